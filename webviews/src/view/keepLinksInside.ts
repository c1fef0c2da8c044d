/**
 * Makes links of a page harmless to press: one to a place in the page scrolls there, every other does nothing. In a
 * srcdoc document even `#place` is resolved against the shell's address, so that following it would leave the frame.
 */
export function keepLinksInside(document: Document): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href], area[href]') : null;
    const href = link?.getAttribute('href');
    if (href === null || href === undefined) return;
    event.preventDefault();
    if (href.startsWith('#')) placeOf(document, href.slice(1))?.scrollIntoView();
  });
}

function placeOf(document: Document, fragment: string): Element | null {
  try {
    return document.getElementById(decodeURIComponent(fragment));
  } catch {
    return document.getElementById(fragment);
  }
}
