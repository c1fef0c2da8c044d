/** Words of the page, already in the person's language; none is markup. */
export interface PageWords {
  readonly title: string;
  /** What is confirmed, as a sentence. */
  readonly sentence: string;
  readonly detail: string;
  readonly confirm: string;
  readonly waiting: string;
  readonly done: string;
  readonly cancelled: string;
  readonly unsupported: string;
  readonly failed: string;
}

/** What `webviews/src/presence/main.ts` reads from the document. Binary members are base64url. */
export interface PageFacts {
  readonly mode: 'get' | 'create';
  /** `PublicKeyCredentialRequestOptionsJSON` or `PublicKeyCredentialCreationOptionsJSON` of WebAuthn Level 3. */
  readonly options: object;
  readonly words: PageWords;
}

/** The headers of every answer: nothing is loaded, framed, kept or told to another page. */
export function presenceHeaders(nonce: string): Record<string, string> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
  };
}

/** The whole page: the act in words, one button, and the script that asks the authenticator. */
export function presencePage(facts: PageFacts, script: string, nonce: string): string {
  const { words } = facts;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(words.title)}</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(words.title)}</h1>
<p id="sentence">${escapeHtml(words.sentence)}</p>
<p id="detail">${escapeHtml(words.detail)}</p>
<button id="confirm" type="button" aria-describedby="sentence" autofocus>${escapeHtml(words.confirm)}</button>
<p id="state" role="status"></p>
</main>
<script type="application/json" id="facts" nonce="${nonce}">${escapeJson(JSON.stringify(facts))}</script>
<script nonce="${nonce}">${script.replaceAll('</script', '<\\/script')}</script>
</body>
</html>
`;
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { box-sizing: border-box; width: min(34rem, 100vw); padding: 2rem; }
h1 { font-size: 1rem; font-weight: 600; opacity: 0.8; margin: 0 0 1rem; }
#sentence { font-size: 1.375rem; line-height: 1.35; margin: 0 0 1rem; overflow-wrap: anywhere; white-space: pre-wrap; }
#detail { margin: 0 0 1.5rem; opacity: 0.85; }
button { font: inherit; padding: 0.6rem 1.4rem; cursor: pointer; }
button:focus-visible { outline: 2px solid Highlight; outline-offset: 3px; }
#state { min-height: 1.5em; margin: 1rem 0 0; }
`;

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** JSON that can't end its element or begin a comment (HTML, 4.12.1.3). */
function escapeJson(json: string): string {
  return json.replaceAll('<', '\\u003c');
}
