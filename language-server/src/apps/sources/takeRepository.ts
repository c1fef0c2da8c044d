import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { showHidden, showHiddenLines } from '../../../../protocol/src/text.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { TreeBuilder } from '../tree/frozenTree.ts';
import { fetchRepository } from './fetchRepository.ts';
import { gitAddressFault } from './gitAddress.ts';
import type { TakeRepository } from './gitSource.ts';
import type { SealedFetch } from './sealedFetch.ts';

export interface RepositoryOptions {
  readonly blobs: BlobStore;
  /** Where repositories are while they are read; nothing stays. */
  readonly scratch: string;
  /** The environment that git starts with, for the protocol of an address. */
  readonly environment: (protocol: 'https' | 'ssh') => Readonly<Record<string, string>>;
  /** For `https:`. With `ssh:` git needs the person's agent, which no sandbox gets. */
  readonly sealedFetch?: SealedFetch | undefined;
}

/**
 * Freezes one commit of a repository. Rejects with `bad-message` for an address that is none or leads to this machine's
 * files, `unreachable` with git's reason where it can't be fetched, and as `fetchRepository` does.
 */
export function createTakeRepository({
  blobs,
  scratch,
  environment,
  sealedFetch,
}: RepositoryOptions): TakeRepository {
  return async ({ url, ref }, { onProgress, signal }) => {
    const fault = gitAddressFault(url, ref);
    if (fault !== undefined)
      throw new UserError('bad-message', `The repository ${showHidden(url)} ${showHidden(fault)}.`, { url });
    const protocol = url.startsWith('ssh:') ? 'ssh' : 'https';
    onProgress('Fetching the repository');
    const folder = mkdtempSync(join(scratch, 'repository-'));
    try {
      const sealed = protocol === 'https' ? await sealedFetch?.({ url, ref }, signal) : undefined;
      const found =
        sealed ??
        (await fetchRepository({
          url,
          ref,
          folder,
          environment: { ...environment(protocol), GIT_ALLOW_PROTOCOL: protocol },
          onProgress,
          signal,
        }));
      const builder = new TreeBuilder(blobs);
      for (const { path, bytes } of found.files) builder.add(path, bytes);
      return { code: builder.finish(), commit: found.commit };
    } catch (error) {
      if (error instanceof UserError) throw error;
      signal.throwIfAborted();
      throw unreachable(url, errorMessage(error), error);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/** Git's own words are shown cut and escaped; what is known to go wrong is said in ours. */
function unreachable(url: string, text: string, cause: unknown): UserError {
  const [, why, remedy] = reasons.find(([pattern]) => pattern.test(text)) ?? [
    undefined,
    showHiddenLines(text).trim().split('\n').slice(-3).join(' ').slice(0, 400),
    'Look at the address, then try again.',
  ];
  return new UserError(
    /No space left/i.test(text) ? 'disk-full' : 'unreachable',
    `The repository ${showHidden(url)} could not be fetched: ${why.replace(/\.$/, '')}. ${remedy}`,
    { url, remedy },
    { cause },
  );
}

const reasons: readonly (readonly [RegExp, string, string])[] = [
  [/ENOENT|not found: git/, 'there is no git', 'Install git, then try again.'],
  [/No space left/i, 'the disk is full', 'Make room, then try again.'],
  [
    /early EOF|hung up|RPC failed|unexpected (disconnect|eof)|invalid index-pack|SSL_read/i,
    'the download was cut off',
    'Try again.',
  ],
  [
    /CONNECT tunnel failed|from proxy after CONNECT/i,
    'its host is on this machine or the local network, which a sealed fetch does not reach',
    'Use ssh:, or install it from a folder.',
  ],
  [
    /could not read Username|Authentication failed|Permission denied|terminal prompts disabled|403/i,
    'it is not public, or not there',
    'A private repository is reached with ssh: and your SSH agent.',
  ],
  [/redirect|returned error: 30[0-9]/i, 'it has moved', 'Use its present address.'],
  [
    /(repository|Repository).*not found|returned error: 404/i,
    'there is no such repository',
    'Look at the address.',
  ],
  [
    /couldn't find remote ref|not our ref|Server does not allow request/i,
    'it has no such branch, tag or commit',
    'Look at what follows #.',
  ],
  [/certificate|SSL|TLS/i, 'its certificate is not trusted', 'Look at the address.'],
  [
    /Host key verification failed/i,
    'its host key is not known',
    'Connect to it once with ssh yourself, then try again.',
  ],
  [/block timeout|timed out/i, 'nothing came for a minute', 'Try again when the server answers.'],
  [
    /Could not resolve host|Connection refused|unreachable|Failed to connect/i,
    'the server does not answer',
    'Look at the address and your network.',
  ],
  [/fsck|bad object|malformed/i, 'it holds objects that git refuses', 'Tell its author.'],
];
