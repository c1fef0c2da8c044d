/**
 * Makes links of a page harmless to press: one to a place in the page scrolls there, one to the web goes to `openLink`,
 * every other does nothing. In a srcdoc document even `#place` is resolved against the shell's address, so that
 * following it would leave the frame. A click that the page handled itself stays handled.
 */
export function keepLinksInside(document: Document, openLink: (url: string) => void = () => undefined): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href], area[href]') : null;
    const href = link?.getAttribute('href');
    if (href === null || href === undefined) return;
    const isHandled = event.defaultPrevented;
    event.preventDefault();
    if (isHandled) return;
    if (href.startsWith('#')) placeOf(document, href.slice(1))?.scrollIntoView();
    else if (/^https?:\/\//i.test(href)) openLink(href);
  });
}

function placeOf(document: Document, fragment: string): Element | null {
  try {
    return document.getElementById(decodeURIComponent(fragment));
  } catch {
    return document.getElementById(fragment);
  }
}
