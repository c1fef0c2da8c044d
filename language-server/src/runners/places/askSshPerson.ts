import type { ParamsOf, ResultOf } from '../../../../protocol/src/contract.ts';
import type { placePersonRequests } from '../../../../protocol/src/places.ts';
import type { SshPerson } from '../ssh/sshPerson.ts';

type Requests = typeof placePersonRequests;

/** The person's side, as far as places ask it. */
export interface AskPerson {
  ask<M extends keyof Requests>(method: M, params: ParamsOf<Requests[M]>): Promise<ResultOf<Requests[M]>>;
}

/** The person as a connection to one place asks. Where nobody answers, the answer is no. */
export function askSshPerson(person: AskPerson, place: string): SshPerson {
  return {
    confirmHostKey: async (question) => {
      const { accepted } = await person.ask('place/confirmHostKey', { place, ...question });
      return accepted;
    },
    showChangedHostKey: async (change) => {
      // It is refused whether or not anybody looks.
      await person.ask('place/changedHostKey', { place, ...change }).catch(() => undefined);
    },
    askSecret: async (question) => {
      const answer = await person.ask('place/askSecret', { place, ...question }).catch(() => undefined);
      return answer?.answers?.length === question.prompts.length ? answer.answers : null;
    },
  };
}
