import { readFile } from 'node:fs/promises';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { FetchPackages } from '../packages/fetchPackages.ts';
import type { LockedPackage } from '../packages/lockFile.ts';

/**
 * The compiler of apps. It is 14 MB and only apps with modules need it, so it is not shipped: the registry that packages
 * come from has it, and only the bytes that this digest names are used.
 */
export const compilerPackage: LockedPackage = {
  name: 'esbuild-wasm',
  version: '0.28.2',
  integrity:
    'sha512-GccVwhv3mmOUVQHCQm2Ox/rby8n/EqUwvZxE6Pjfikrq/lWw9g9WX/u9EykWnpot3Ko6j426DgQdea2xWKIAQA==',
  place: 'node_modules/esbuild-wasm',
};

/** Gives the compiler's WebAssembly. Rejects as `FetchPackages` does where it has to be brought and can't be. */
export type ReadCompiler = () => Promise<Uint8Array>;

/** The download has a time limit of its own. */
const never = new AbortController().signal;

/** Reads the compiler from `builtIn`, where a build of our own left it, else brings it once and keeps it. */
export function createReadCompiler(builtIn: string, fetchPackages: FetchPackages): ReadCompiler {
  return async () => {
    const there = await readFile(builtIn).catch(() => undefined);
    if (there) return there;
    try {
      const files = await fetchPackages([compilerPackage], () => undefined, never);
      return files.read(`${compilerPackage.place}/esbuild.wasm`);
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'unreachable') throw error;
      throw new UserError(
        'unreachable',
        `This app is built from modules, for which its compiler is needed once: ${error.message}`,
        error.data,
        { cause: error },
      );
    }
  };
}
