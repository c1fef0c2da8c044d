import { appendFileSync, chmodSync, readFileSync } from 'node:fs';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { knownHostsName, parseKnownHosts, wireKeyType, type KnownHost, type LookedUp } from './knownHosts.ts';

/**
 * What is known of hosts: the person's own files, which are read and never written, and ours, where accepted keys go.
 * Everything is read anew at each connection.
 */
export interface TrustStore {
  /** Throws `unreadable` where a file is there and can't be read: then nothing is trusted. */
  known(files: readonly string[]): KnownHost[];
  /** A person accepted this key at its first use. Throws `unreadable`. */
  add(at: LookedUp, key: Buffer): void;
}

/** `own` is the path of our file, absolute; made (0600) with the first key. */
export function createTrustStore(own: string): TrustStore {
  return {
    known: (files) =>
      [...new Set([own, ...files])].flatMap((file) => {
        const text = readIfThere(file);
        return text === undefined ? [] : parseKnownHosts(text, file);
      }),
    add: (at, key) => {
      try {
        const line = `${knownHostsName(at)} ${wireKeyType(key)} ${key.toString('base64')}\n`;
        const before = readIfThere(own) ?? '';
        appendFileSync(own, before === '' || before.endsWith('\n') ? line : `\n${line}`, { mode: 0o600 });
        chmodSync(own, 0o600);
      } catch (error) {
        throw new UserError('unreadable', `Failed to remember the key of ${at.host}: ${errorMessage(error)}`);
      }
    },
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UserError(
      'unreadable',
      `${file} can’t be read, so no host can be told from another: ${errorMessage(error)}`,
      { path: file, remedy: 'Make the file readable for your own user.' },
      { cause: error },
    );
  }
}
