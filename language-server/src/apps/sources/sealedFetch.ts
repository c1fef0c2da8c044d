import { readFileSync } from 'node:fs';
import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import type { LocalRunner } from '../../runners/local.ts';
import { TreeBuilder } from '../tree/frozenTree.ts';
import type { RepositoryFile } from './fetchRepository.ts';
import { parseBundle } from './repositoryBundle.ts';

export interface SealedFetchOptions {
  readonly runner: LocalRunner;
  /** The blobs that the runner takes from and leaves in. */
  readonly blobs: BlobStore;
  /** The built `git-job.cjs`. */
  readonly script: string;
  readonly recordEgress: (record: EgressRecord) => void;
  readonly createId: () => string;
  /** A certificate in PEM that is trusted besides the system's; for tests. */
  readonly ca?: string | undefined;
}

/**
 * Fetches over https in a sandbox that reaches the repository's host and nothing else. Undefined where this machine has
 * no bubblewrap: there is no isolation to have. Where it has and the sandbox can't be made, it rejects (`isolation-missing`).
 */
export type SealedFetch = (
  source: { readonly url: string; readonly ref: string | undefined },
  signal: AbortSignal,
) => Promise<{ readonly commit: string; readonly files: readonly RepositoryFile[] } | undefined>;

/** Each fetch is a job of `runner`, with the repository's host as its only network. */
export function createSealedFetch(options: SealedFetchOptions): SealedFetch {
  const { runner, blobs, script, recordEgress, createId, ca } = options;
  return async ({ url, ref }, signal) => {
    const { isolation, interpreters } = await runner.ready();
    if (isolation.kind !== 'bubblewrap' || !interpreters.some(({ runtime }) => runtime === 'node'))
      return undefined;
    const code = new TreeBuilder(blobs);
    code.add('main.cjs', readFileSync(script));
    const { outcome, outputs } = await runner.run(
      {
        jobId: `repository-${createId()}`.slice(0, 80),
        cardId: 'repository',
        runtime: 'node',
        entry: 'main.cjs',
        code: code.finish(),
        inputs: [],
        outputs: [{ port: 'repository', type: 'file', optional: false }],
        params: JSON.stringify({ url, ref: ref ?? null, ca: ca ?? null }),
        limits: { seconds: 600, memoryMB: 2048, processes: 64, outputMB: 2 * megabytes, logMB: 1 },
        access: { network: { kind: 'hosts', hosts: [hostOf(url)] }, hostFolders: [] },
      },
      {
        started: () => undefined,
        log: () => undefined,
        progress: () => undefined,
        egress: recordEgress,
      },
      signal,
    );
    signal.throwIfAborted();
    const left = outputs['repository'];
    if (!left) {
      if (outcome.kind === 'refused' && outcome.code === 'isolation-missing')
        throw new UserError('isolation-missing', `The repository can’t be fetched sealed: ${outcome.detail}`);
      const detail = 'detail' in outcome && outcome.detail !== undefined ? `: ${outcome.detail}` : '';
      throw new Error(`the sealed fetch ended without an answer (${outcome.kind}${detail})`);
    }
    return parseBundle(blobs.readBytes(left.digest, { limitBytes: 2 * appLimits.totalBytes }));
  };
}

const megabytes = Math.ceil(appLimits.totalBytes / 1024 / 1024);

/** How the host of an address stands in a list of hosts that may be reached. */
function hostOf(address: string): string {
  const { hostname, port } = new URL(address);
  return port === '' ? hostname : `${hostname}:${port}`;
}
