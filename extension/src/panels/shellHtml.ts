/** Shells of frames that hold scripts of others: a card's own page, an app. */
export type RelayKind = 'page' | 'appHost';

/** The pages that Sallyport shows in webviews. The others are ours alone. */
export type ShellKind = 'canvas' | 'workbench' | 'run' | RelayKind;

/** A relay's own script stands in its document. */
export function isRelay(kind: ShellKind): kind is RelayKind {
  return kind === 'page' || kind === 'appHost';
}

export interface ShellOptions {
  readonly kind: ShellKind;
  readonly title: string;
  /** `webview.cspSource`. */
  readonly cspSource: string;
  /** Webview URI of the style sheet. */
  readonly styleUri: string;
  /** Webview URI of the bundle; for a relay the bundle itself, which stands in the document. */
  readonly script: string;
  /** Fresh for each page, 128 bits or more, base64url. The second is readable in the page: it lets in styles only. */
  readonly scriptNonce: string;
  readonly styleNonce: string;
  /** Base64 SHA-256 of the frame's own script (`view.js`), for a shell that opens frames. */
  readonly frameScriptHash: string;
}

/**
 * The policy of a shell. A frame inherits it and adds its own, so a shell allows exactly what its frames need and
 * nothing here has to be trusted by them (webviews/README.md has the reasons, measured):
 * - `canvas` opens no frame: nonces only.
 * - `workbench` opens none either, and shows what a model wrote: no picture from anywhere but the page's own memory, and
 *   Markdown becomes markup only through the sanitiser's policy.
 * - `run` opens frames for charts: Sallyport's own frame script by its hash, libraries as blobs, inline styles.
 * - `page` and `appHost` open a frame whose scripts are a card's or an app's: inline scripts, so there is no nonce, and
 *   the relay's own script stands inline as well: no address may give a script. These pages hold no markup from anywhere.
 */
export function shellPolicy(options: ShellOptions): string {
  const source = cspToken(options.cspSource);
  const frames = {
    'img-src': 'data: blob:',
    'media-src': 'data: blob:',
    'style-src': `${source} 'unsafe-inline'`,
    'font-src': `${source} data:`,
    'trusted-types': 'fast-html sallyport-frame sallyport default',
  };
  const byKind: Record<ShellKind, Record<string, string>> = {
    canvas: {
      'script-src': `'nonce-${options.scriptNonce}'`,
      'style-src': `${source} 'nonce-${options.styleNonce}'`,
      'font-src': source,
      'img-src': 'data:',
      'trusted-types': 'fast-html',
    },
    workbench: {
      'script-src': `'nonce-${options.scriptNonce}'`,
      'style-src': `${source} 'nonce-${options.styleNonce}'`,
      'font-src': source,
      'img-src': 'blob:',
      'trusted-types': 'fast-html dompurify',
    },
    run: {
      ...frames,
      'script-src': `'nonce-${options.scriptNonce}' 'sha256-${options.frameScriptHash}' blob:`,
    },
    page: { ...frames, 'script-src': "'unsafe-inline' blob:" },
    appHost: { ...frames, 'script-src': "'unsafe-inline' blob:" },
  };
  return Object.entries({
    'default-src': "'none'",
    ...byKind[options.kind],
    'frame-src': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'require-trusted-types-for': "'script'",
  })
    .map(([directive, value]) => `${directive} ${value}`)
    .join('; ');
}

/** The whole document of a shell. Its body is empty: the bundle draws it. */
export function shellHtml(options: ShellOptions): string {
  const script = isRelay(options.kind)
    ? `<script>${inlineScript(options.script)}</script>`
    : `<script nonce="${options.scriptNonce}" src="${attribute(options.script)}"></script>`;
  // The shell of an app brings its style along in its script.
  const style =
    options.kind === 'appHost' ? '' : `<link rel="stylesheet" href="${attribute(options.styleUri)}">`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(shellPolicy(options))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta property="csp-nonce" content="${options.styleNonce}">
<title>${attribute(options.title)}</title>
${style}
</head>
<body>
<div id="root"></div>
${script}
</body>
</html>`;
}

/** Characters that would end a source or a directive are percent-encoded, so an odd folder name adds no policy. */
function cspToken(source: string): string {
  return source.replace(/[;,"<>\\]/g, (character) => encodeURIComponent(character)).replace(/[\r\n\t]/g, ' ');
}

/** A text that would end its element is a damaged build, not something to escape. */
function inlineScript(source: string): string {
  if (/<\/script|<!--/i.test(source)) throw new Error('The relay script cannot stand in a page');
  return source;
}

function attribute(text: string): string {
  return text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
