import type { Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { askSecret, confirmHostKey, showChangedHostKey } from './placeQuestions.ts';

/** The person's answers to what places ask: keys of hosts, passwords, passphrases, codes. Only native windows ask. */
export function registerPlaces({ engine, workerIdentity }: Services): Disposable {
  return engine.handle({
    'place/confirmHostKey': (question) => confirmHostKey(question),
    'place/changedHostKey': (change) => showChangedHostKey(change),
    'place/askSecret': (question, signal) => askSecret(question, signal),
    'worker/identity': async () => ({ publicKey: await workerIdentity.publicKey() }),
    'worker/sign': async ({ certificate }) => ({ signature: await workerIdentity.sign(certificate) }),
  });
}
