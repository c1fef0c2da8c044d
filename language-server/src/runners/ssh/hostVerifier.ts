/**
 * Makes ssh2's `hostVerifier` of a decision, for one connection. ssh2 takes anything but a literal `false` for a yes: a
 * promise, an error, `null`, nothing at all. So it is given nothing else: it hears `true` for exactly `'trusted'`, and
 * `false` for every other answer, for a rejection and for a throw. This is the only function that may be handed to it.
 *
 * When the keys of the connection are changed (RFC 4253, 9), the host shows its key again. The same one is taken, and
 * another refused, before the call returns: while ssh2 waits for an answer it goes on sending, which the host does not
 * take in the middle of an exchange.
 */
export function toHostVerifier(
  decide: (key: Buffer) => Promise<unknown>,
): (key: Buffer, verify: (isTrusted: boolean) => void) => void {
  let trusted: Buffer | undefined;
  return (key, verify) => {
    if (trusted) {
      verify(trusted.equals(key));
      return;
    }
    let decided: Promise<unknown>;
    try {
      decided = Promise.resolve(decide(key));
    } catch {
      verify(false);
      return;
    }
    decided.then(
      (answer) => {
        const isTrusted = answer === 'trusted';
        if (isTrusted) trusted = Buffer.from(key);
        verify(isTrusted);
      },
      () => verify(false),
    );
  };
}
