const mostTold = 50;
const longestText = 500;

/** Tells what the app threw and what the policy stopped, the first fifty: an author finds it in the app's log. */
export function tellProblems(window: Window, tell: (kind: 'error' | 'blocked', text: string) => void): void {
  let count = 0;
  let last = '';
  const say = (kind: 'error' | 'blocked', text: string) => {
    // Each policy that stops a request reports it.
    if (text === last || ++count > mostTold) return;
    last = text;
    tell(kind, text.slice(0, longestText));
  };
  window.addEventListener('error', (event) => say('error', event.message || 'A resource did not load'));
  window.addEventListener('unhandledrejection', (event) => say('error', String(event.reason)));
  window.document.addEventListener('securitypolicyviolation', (event) =>
    say('blocked', `${event.effectiveDirective}: ${event.blockedURI}`),
  );
}
