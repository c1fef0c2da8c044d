import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { ReleaseDesk } from './releaseDesk.ts';
import { SshDesk } from './sshDesk.ts';

/** Answers what the engine asks of the vault, and tells it of changes. */
export function registerRelease({ commands, engine, log, released, vault }: Services): Disposable {
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
  const ssh = new SshDesk({
    openVaults: () => vaults.open(),
    review: (grant) => commands.run('sallyport.reviewVaultRequests', grant),
    now: () => Date.now(),
  });
  return together(
    engine.handle({
      'vault/release': (params) => desk.release(params),
      'vault/covered': (params) => desk.covered(params),
      'vault/names': () => desk.names(),
      'vault/ask': (params) => desk.ask(params),
      'vault/sshKeys': (params) => ssh.keys(params),
      'vault/sshSign': (params, signal) => ssh.sign(params, signal),
    }),
    vaults.onDidChange(() => {
      engine
        .notify('vault/changed', {})
        .catch((error: unknown) => log.error('Failed to tell the engine of the vault', error));
    }),
  );
}
