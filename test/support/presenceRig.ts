import { join } from 'node:path';
import type { Notice } from '../../extension/src/messages.ts';
import { FactorStore } from '../../extension/src/presence/factorStore.ts';
import { Presence } from '../../extension/src/presence/presence.ts';
import type {
  Factor,
  OpenPage,
  PageEnd,
  PresenceWindow,
} from '../../extension/src/presence/presenceWindow.ts';
import { ProofDesk } from '../../extension/src/presence/proofDesk.ts';
import { buildWebviews, webviewFile } from './webviews.ts';

/** A person's side of presence whose browser and clock are the test's. */
export interface PresenceRig {
  readonly presence: Presence;
  readonly store: FactorStore;
  readonly notices: Notice[];
  /** Milliseconds that are added to both clocks. */
  skip(ms: number): void;
  /** What the native surfaces answer. */
  readonly says: {
    factor: Factor | undefined;
    first: Factor | undefined;
    password: string;
    newPassword: string | undefined;
    /** What the box answered to each password. */
    readonly problems: (string | undefined)[];
    /** All that happens in the browser, until the answer or the cancel. */
    browser: (page: OpenPage) => Promise<unknown>;
    external: (uri: string) => string;
  };
}

export function presenceRig(folder: string): PresenceRig {
  let skipped = 0;
  const notices: Notice[] = [];
  const says: PresenceRig['says'] = {
    factor: 'passkey',
    first: 'passkey',
    password: '',
    newPassword: undefined,
    problems: [],
    browser: async () => undefined,
    external: (uri) => uri,
  };
  const window: PresenceWindow = {
    choose: async () => says.factor,
    chooseFirst: async () => says.first,
    askPassword: async (_act, check) => {
      const problem = await check(says.password);
      says.problems.push(problem);
      return problem === undefined;
    },
    askNewPassword: async () => says.newPassword,
    askLabel: async (known) => `Passkey ${known + 1}`,
    asExternal: async (uri) => says.external(uri),
    whileOpen: async (_act, page): Promise<PageEnd> => {
      let end: PageEnd = 'cancelled';
      void page.answered.then(() => (end = 'answered'));
      await says.browser(page);
      return end;
    },
  };
  const store = new FactorStore(join(folder, 'presence/factors.json'));
  const now = () => performance.now() + skipped;
  const presence = new Presence({
    store,
    desk: new ProofDesk(now),
    window,
    notifier: { show: (notice) => notices.push(notice) },
    now,
    today: () => Date.now() + skipped,
    script: async () => {
      await buildWebviews();
      return webviewFile('presence.js');
    },
    verifier: () => import('../../extension/src/presence/verifyPasskey.ts'),
  });
  return { presence, store, notices, says, skip: (ms) => (skipped += ms) };
}
