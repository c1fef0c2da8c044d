/**
 * Makes ssh2's `hostVerifier` of a decision. ssh2 takes anything but a literal `false` for a yes: a promise, an error,
 * `null`, nothing at all. So it is given nothing else: it hears `true` for exactly `'trusted'`, and `false` for every
 * other answer, for a rejection and for a throw. This is the only function that may be handed to it.
 */
export function toHostVerifier(
  decide: (key: Buffer) => Promise<unknown>,
): (key: Buffer, verify: (isTrusted: boolean) => void) => void {
  return (key, verify) => {
    let decided: Promise<unknown>;
    try {
      decided = Promise.resolve(decide(key));
    } catch {
      verify(false);
      return;
    }
    decided.then(
      (answer) => verify(answer === 'trusted'),
      () => verify(false),
    );
  };
}
