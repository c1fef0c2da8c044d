import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { ReleaseDesk } from './releaseDesk.ts';

/** Answers what the engine asks of the vault, and tells it of changes. */
export function registerRelease({ engine, log, released, vault }: Services): Disposable {
  const { vaults } = vault;
  const desk = new ReleaseDesk({
    openVaults: () => vaults.open(),
    hasLocked: () => {
      vaults.personal.look();
      return vaults.personal.status.state === 'locked' || vaults.agents.status.state === 'locked';
    },
    released,
    now: () => Date.now(),
  });
  return together(
    engine.handle({
      'vault/release': (params) => desk.release(params),
      'vault/covered': (params) => desk.covered(params),
      'vault/names': () => desk.names(),
      'vault/ask': (params) => desk.ask(params),
    }),
    vaults.onDidChange(() => {
      engine
        .notify('vault/changed', {})
        .catch((error: unknown) => log.error('Failed to tell the engine of the vault', error));
    }),
  );
}
