import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import { showHidden } from '../../../../protocol/src/text.ts';
import { tarballPath, type LockedPackage } from './lockFile.ts';
import type { FetchPackages } from './fetchPackages.ts';
import { hasIntegrity, type PackageCache } from './packageCache.ts';
import { readTar } from './tarFiles.ts';

const unpack = promisify(gunzip);

/** Where packages come from where a person sets nothing else: the public registry of npm. */
export const defaultRegistry = 'https://registry.npmjs.org/';

export interface RegistryOptions {
  /** `https:`, or `http:` on this machine; with or without a slash at its end. */
  readonly registry: () => string;
  readonly cache: PackageCache;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs?: number;
}

/**
 * Brings packages from a registry. Only the bytes that the lock file's digest names are used, wherever they came from;
 * their archives are read in memory and nothing of them is run. Rejects with `unreachable`, `conflict` for other bytes,
 * and as `readTar` does.
 */
export function createRegistry(options: RegistryOptions): FetchPackages {
  return async (packages, onProgress, signal) => {
    const files = new Map<string, Uint8Array>();
    let totalBytes = 0;
    for (const [at, each] of packages.entries()) {
      onProgress(`Package ${at + 1} of ${packages.length}: ${each.name}`);
      const shown = `${each.name} ${each.version}`;
      const tar = await inflate(await tarball(options, each, signal), shown);
      for (const [path, bytes] of readTar(tar, shown)) {
        totalBytes += bytes.length;
        files.set(`${each.place}/${path}`, bytes);
      }
      if (totalBytes > appLimits.totalBytes || files.size > 5 * appLimits.files)
        throw new UserError('too-large', 'The packages of the app are too large together.');
    }
    return {
      has: (path) => files.has(path),
      read: (path) => {
        const bytes = files.get(path);
        if (!bytes) throw new UserError('not-found', `No package has ${path}`, { path });
        return bytes;
      },
    };
  };
}

async function tarball(
  { registry, cache, fetch, timeoutMs = 120_000 }: RegistryOptions,
  wanted: LockedPackage,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const known = cache.read(wanted.integrity);
  if (known) return known;
  const base = registry();
  if (!isRegistry(base))
    throw new UserError(
      'unreachable',
      `The registry ${showHidden(base)} is neither an https: address nor one of this machine. Look at the setting sallyport.apps.packageRegistry.`,
    );
  const address = `${base.replace(/\/*$/, '')}/${tarballPath(wanted)}`;
  const shown = `${wanted.name} ${wanted.version}`;
  let bytes: Uint8Array;
  try {
    const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    // The address is the person's choice; whoever answers there does not choose another one.
    const response = await fetch(address, { redirect: 'error', credentials: 'omit', signal: either });
    if (!response.ok) throw new Error(`the registry answered ${response.status}`);
    bytes = await readBounded(response, shown);
  } catch (error) {
    if (signal.aborted || error instanceof UserError) throw error;
    const text = `The package ${shown} could not be fetched from ${address}: ${reasonOf(error)}. Try again when the registry answers.`;
    throw new UserError('unreachable', text, {}, { cause: error });
  }
  if (!hasIntegrity(bytes, wanted.integrity))
    throw new UserError(
      'conflict',
      `The registry gave other bytes for ${shown} than package-lock.json names. Nothing was installed.`,
    );
  cache.keep(wanted.integrity, bytes);
  return bytes;
}

/** Names and versions of packages go to it, and bytes without their digest are not used; still it is not asked in the clear. */
function isRegistry(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(address);
  const isPlain = username === '' && password === '' && search === '' && hash === '';
  const isHere = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
  return isPlain && (protocol === 'https:' || (protocol === 'http:' && isHere));
}

async function readBounded(response: Response, shown: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array;
    size += bytes.length;
    if (size > appLimits.packageBytes) throw new UserError('too-large', `The package ${shown} is too large.`);
    chunks.push(bytes);
  }
  const length = response.headers.get('content-length');
  if (length !== null && response.headers.get('content-encoding') === null && Number(length) !== size)
    throw new Error('the download was cut off');
  return Buffer.concat(chunks);
}

async function inflate(bytes: Uint8Array, shown: string): Promise<Buffer> {
  try {
    return await unpack(bytes, { maxOutputLength: appLimits.packageBytes * 2 });
  } catch (error) {
    throw new UserError('unreadable', `The package ${shown} can’t be unpacked: ${errorMessage(error)}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  return error instanceof Error && error.cause !== undefined
    ? errorMessage(error.cause)
    : errorMessage(error);
}
