import { useEffect, useState } from 'react';
import { errorMessage } from '../../../protocol/src/errors.ts';

/** A question's answer while a component is shown: waiting, there, or a sentence of what went wrong. */
export type Answer<T> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'there'; readonly value: T }
  | { readonly kind: 'failed'; readonly message: string };

/** Asks again whenever `question` changes identity; an answer to an earlier question is dropped. */
export function useAnswer<T>(question: () => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<{ question: unknown; answer: Answer<T> }>();
  useEffect(() => {
    let isCurrent = true;
    const take = (taken: Answer<T>) => {
      if (isCurrent) setAnswer({ question, answer: taken });
    };
    question().then(
      (value) => take({ kind: 'there', value }),
      (error: unknown) => take({ kind: 'failed', message: errorMessage(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [question]);
  return answer?.question === question ? answer.answer : { kind: 'waiting' };
}
