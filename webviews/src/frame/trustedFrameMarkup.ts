/**
 * The one place where text becomes a document in a shell. The policy's name is the only one that shells allow beside
 * the component toolkit's, so nothing else in a shell can make markup, script text or script addresses.
 */
const policy = window.trustedTypes?.createPolicy('sallyport-frame', { createHTML: (markup) => markup });

/** Only for `frameDocument`: constant but for Sallyport's own script. */
export function trustedFrameMarkup(markup: string): string {
  return (policy?.createHTML(markup) ?? markup) as string;
}
