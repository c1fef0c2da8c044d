/** Undoes a registration or frees what was made; safe to call twice. VS Code's own disposables fit it. */
export interface Disposable {
  dispose(): void;
}

/** One that disposes all of these, last first. */
export function together(...parts: readonly Disposable[]): Disposable {
  return {
    dispose: () => {
      for (const part of parts.toReversed()) part.dispose();
    },
  };
}
