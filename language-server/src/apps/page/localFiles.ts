import { posix } from 'node:path';

/**
 * The file of the app that an address in `from` means, or nothing where it leads elsewhere: another scheme or host, a
 * fragment, nothing at all, or out of the app.
 */
export function localPath(address: string, from: string): string | undefined {
  const text = address.trim();
  if (text === '' || text.startsWith('#') || text.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(text))
    return undefined;
  const bare = text.replace(/[?#].*$/s, '');
  let decoded: string;
  try {
    decoded = decodeURIComponent(bare);
  } catch {
    return undefined;
  }
  const path = decoded.startsWith('/')
    ? posix.normalize(decoded.slice(1))
    : posix.normalize(posix.join(posix.dirname(from), decoded));
  return path === '.' || path.startsWith('../') || path.startsWith('/') || path === '..' ? undefined : path;
}

/** The file as a `data:` address (RFC 2397). */
export function toDataUrl(path: string, bytes: Uint8Array): string {
  return `data:${mimeOf(path)};base64,${Buffer.from(bytes).toString('base64')}`;
}

function mimeOf(path: string): string {
  return mimes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';
}

const mimes: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  gif: 'image/gif',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  otf: 'font/otf',
  png: 'image/png',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  vtt: 'text/vtt',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  woff: 'font/woff',
  woff2: 'font/woff2',
};
