const tagName = /<\/?[^\s<>/]+/g;
const embedding = /frame|object|embed|portal/gi;

/**
 * Markup with every element that could hold a second document renamed, so that it is inert: `<iframe>` becomes
 * `<ix-frame>`. It works on the text, before any parser: a start tag needs its name right after `<` in HTML, and the
 * local name after a prefix in XML, so no reading of the result finds such an element. A second document would have
 * its own realm, with the WebRTC constructors that this one has lost.
 */
export function withoutFrames(markup: string): string {
  return markup.replace(tagName, (tag) => tag.replace(embedding, (word) => `x-${word}`));
}
