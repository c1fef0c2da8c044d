import type { ParamsOf, ResultOf } from '../../../../protocol/src/contract.ts';
import type { placePersonRequests } from '../../../../protocol/src/places.ts';
import type { vaultPersonRequests } from '../../../../protocol/src/vault.ts';
import type { SshPerson } from '../ssh/sshPerson.ts';

type Requests = typeof placePersonRequests &
  Pick<typeof vaultPersonRequests, 'vault/sshKeys' | 'vault/sshSign'>;

/** The person's side, as far as places ask it. */
export interface AskPerson {
  ask<M extends keyof Requests>(method: M, params: ParamsOf<Requests[M]>): Promise<ResultOf<Requests[M]>>;
}

/** The person as a connection to one place asks. Where nobody answers, the answer is no. */
export function askSshPerson(person: AskPerson, place: string): SshPerson {
  return {
    vaultKeys: async ({ host, port }, mayAsk = true) => {
      const at = { place, host, port };
      const keys = await person.ask('vault/sshKeys', at);
      return keys
        .filter(({ isGranted }) => mayAsk || isGranted)
        .map(({ title, publicKey }) => ({
          name: title,
          publicKey: Buffer.from(publicKey, 'base64'),
          sign: async (data) => {
            const asked = { ...at, mayAsk, publicKey, data: data.toString('base64') };
            const { signature } = await person.ask('vault/sshSign', asked);
            return Buffer.from(signature, 'base64');
          },
        }));
    },
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
