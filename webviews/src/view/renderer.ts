import type { PictureFormat, ViewTheme } from '../../../protocol/src/webview.ts';

/** A picture that has been drawn. */
export interface Drawing {
  /** The bytes of the picture as it is now, base64. */
  picture(format: PictureFormat): Promise<string>;
  /** Draws again with other colours. */
  setTheme(theme: ViewTheme): Promise<void>;
}

/** What a drawing library offers the frame. Rejects with a sentence where the JSON does not describe a picture. */
export interface Renderer {
  draw(target: HTMLElement, json: string, theme: ViewTheme): Promise<Drawing>;
}

const slot = 'sallyportRenderer';

/** Called once by a library's script. */
export function offerRenderer(renderer: Renderer): void {
  Object.defineProperty(globalThis, slot, { value: renderer });
}

/** The renderer of the library that has just run. */
export function takeRenderer(): Renderer {
  const renderer: unknown = Reflect.get(globalThis, slot);
  if (!renderer) throw new Error('The drawing library offers nothing');
  return renderer as Renderer;
}

/** The base64 part of a data URL; encodes the text of one that is not base64. */
export function base64OfDataUrl(url: string): string {
  const comma = url.indexOf(',');
  const body = url.slice(comma + 1);
  return url.slice(0, comma).endsWith(';base64') ? body : base64OfText(decodeURIComponent(body));
}

export function base64OfText(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
