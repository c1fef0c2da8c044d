import { randomUUID } from 'node:crypto';
import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { FetchDesk } from './fetchDesk.ts';
import { ReleaseDesk } from './releaseDesk.ts';
import { SshDesk } from './sshDesk.ts';

/** Answers what the engine asks of the vault, and tells it of changes. */
export function registerRelease({
  commands,
  engine,
  log,
  pluginCalls,
  released,
  vault,
}: Services): Disposable {
  const { vaults, answers } = vault;
  const hasLocked = (): boolean => {
    vaults.personal.look();
    return vaults.personal.status.state === 'locked' || vaults.agents.status.state === 'locked';
  };
  const desk = new ReleaseDesk({
    openVaults: () => vaults.open(),
    hasLocked,
    released,
    now: () => Date.now(),
  });
  const fetchDesk = new FetchDesk({
    openVaults: () => vaults.open(),
    hasLocked,
    released,
    isCalled: (principal) => pluginCalls.isUnderWay(principal),
    answers,
    now: () => Date.now(),
    createId: () => randomUUID(),
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
      'vault/granted': (params) => fetchDesk.granted(params),
      'vault/fetch': (params, signal) => fetchDesk.fetch(params, signal),
      'vault/fetchRead': ({ stream }, signal) => fetchDesk.read(stream, signal),
      'vault/fetchClose': ({ stream }) => {
        fetchDesk.close(stream);
        return null;
      },
      'vault/sshKeys': (params) => ssh.keys(params),
      'vault/sshSign': (params, signal) => ssh.sign(params, signal),
    }),
    engine.onDidChangeState((state) => {
      if (state !== 'running') fetchDesk.closeAll();
    }),
    { dispose: () => fetchDesk.closeAll() },
    vaults.onDidChange(() => {
      engine
        .notify('vault/changed', {})
        .catch((error: unknown) => log.error('Failed to tell the engine of the vault', error));
    }),
  );
}
