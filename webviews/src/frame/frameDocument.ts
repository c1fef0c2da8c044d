/**
 * The policy of every opaque frame. It stands first in the frame's document and in its `csp` attribute, and is
 * intersected with the shell's, which a srcdoc frame inherits. It names no nonce and no host: inline scripts and blobs
 * run, nothing is fetched, navigated to, framed or submitted. Trusted Types close the ways to a fresh realm
 * (webviews/README.md).
 */
export const framePolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' blob:",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  'media-src data: blob:',
  "connect-src 'none'",
  "worker-src 'none'",
  "frame-src 'none'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types sallyport default',
].join('; ');

/**
 * The whole document of an opaque frame. It is constant but for Sallyport's own script: what a card wrote comes later,
 * through the port. `frameScript` must stand in it byte for byte, for shells allow it by its hash.
 */
export function frameDocument(frameScript: string): string {
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
    `<meta http-equiv="Content-Security-Policy" content="${framePolicy}">` +
    `<meta http-equiv="x-dns-prefetch-control" content="off">` +
    `<title>Sealed view</title></head><body><script>${frameScript}</script></body></html>`
  );
}
