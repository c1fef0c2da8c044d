/** What a worker's owner hands to somebody: where it is, which identity it has, and a code that is good once. */
export interface Invitation {
  readonly host: string;
  readonly port: number;
  /** Of the worker's identity. */
  readonly fingerprint: string;
  readonly secret: string;
}

/** One line that can be pasted: `sallyport-worker://host:port/#FINGERPRINT.SECRET`. */
export function toInvitation({ host, port, fingerprint, secret }: Invitation): string {
  const pin = Buffer.from(fingerprint.slice('SHA256:'.length), 'base64').toString('base64url');
  return `sallyport-worker://${host.includes(':') ? `[${host}]` : host}:${port}/#${pin}.${secret}`;
}

/** Undefined for anything that is not one line of that form. */
export function parseInvitation(text: string): Invitation | undefined {
  const match =
    /^sallyport-worker:\/\/(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})))(?::([0-9]{1,5}))\/#([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/.exec(
      text.trim(),
    );
  if (!match) return undefined;
  const [, bracketed, plain = '', port, pin = '', secret = ''] = match;
  const fingerprint = `SHA256:${Buffer.from(pin, 'base64url').toString('base64').replace(/=+$/, '')}`;
  const number = Number(port);
  return number > 0 && number < 65_536
    ? { host: bracketed ?? plain, port: number, fingerprint, secret }
    : undefined;
}
