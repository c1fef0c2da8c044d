import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import type { providerRequests } from '../../../protocol/src/agent.ts';
import { UserError } from '../../../protocol/src/errors.ts';

type Ask = (typeof providerRequests)['person/ask'];

/** A question of the agent's that waits. Its texts are the agent's: show them escaped and as what they are. */
export interface PersonQuestion extends ParamsOf<Ask> {
  readonly id: number;
  /** Takes the answer; null turns the question away. */
  readonly answer: (text: string | null) => void;
}

const mostQuestions = 20;

/** Holds the questions of `ask_person` until a person answers or the engine takes them back. */
export class PersonQuestions {
  readonly #onChange: (questions: readonly PersonQuestion[]) => void;
  readonly #waiting = new Map<number, PersonQuestion>();
  #next = 1;

  constructor(onChange: (questions: readonly PersonQuestion[]) => void) {
    this.#onChange = onChange;
  }

  /** Settles with the answer. Rejects with `cancelled` where the question was taken back, `too-large` past 20. */
  ask(params: ParamsOf<Ask>, signal: AbortSignal): Promise<ResultOf<Ask>> {
    if (signal.aborted) return Promise.reject(takenBack());
    if (this.#waiting.size >= mostQuestions) {
      return Promise.reject(new UserError('too-large', `${mostQuestions} questions wait already`));
    }
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#remove(id);
        reject(takenBack());
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(id, {
        ...params,
        id,
        answer: (answer) => {
          if (!this.#waiting.has(id)) return;
          signal.removeEventListener('abort', onAbort);
          this.#remove(id);
          resolve({ answer });
        },
      });
      this.#tell();
    });
  }

  #remove(id: number): void {
    this.#waiting.delete(id);
    this.#tell();
  }

  #tell(): void {
    this.#onChange([...this.#waiting.values()]);
  }
}

function takenBack(): UserError {
  return new UserError('cancelled', 'The question was taken back');
}
