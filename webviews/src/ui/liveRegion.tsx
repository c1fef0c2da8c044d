import { useEffect, useState } from 'react';

/** Collects sentences and says them at most once in `intervalMs`, so that a fast run does not flood a screen reader. */
export class Announcer {
  readonly #intervalMs: number;
  readonly #summarise: (sentences: readonly string[]) => string;
  #waiting: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #say: (text: string) => void = () => undefined;

  constructor(intervalMs: number, summarise: (sentences: readonly string[]) => string) {
    this.#intervalMs = intervalMs;
    this.#summarise = summarise;
  }

  announce(...sentences: readonly string[]): void {
    if (sentences.length === 0) return;
    this.#waiting.push(...sentences);
    this.#timer ??= setTimeout(() => this.#flush(), this.#intervalMs);
  }

  /** Whoever shows the text. Returns what stops it. */
  attach(say: (text: string) => void): () => void {
    this.#say = say;
    return () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#say = () => undefined;
    };
  }

  #flush(): void {
    this.#timer = undefined;
    this.#say(this.#summarise(this.#waiting));
    this.#waiting = [];
  }
}

/** Where an announcer's words reach a screen reader. */
export function LiveRegion({ announcer }: { readonly announcer: Announcer }) {
  const [text, setText] = useState('');
  useEffect(() => announcer.attach(setText), [announcer]);
  return (
    <div className="unseen" role="status" aria-live="polite">
      {text}
    </div>
  );
}
