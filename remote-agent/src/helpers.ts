import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Put here by the build, so that the runner stays one file. */
declare const bundledHelpers: Readonly<Record<string, string>> | undefined;

/**
 * The files of `remote-agent/helpers/` by their path there: the module `sallyport` for Python (`python/`) and for Node
 * (`node/`), and the egress bridge. What the sandbox shows at /sallyport.
 */
export function loadHelpers(): Readonly<Record<string, string>> {
  if (typeof bundledHelpers !== 'undefined') return bundledHelpers;
  const folder = join(import.meta.dirname, '..', 'helpers');
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.includes('__pycache__') && statSync(join(folder, path)).isFile(),
  );
  return Object.fromEntries(
    paths.sort().map((path) => [path.replaceAll('\\', '/'), readFileSync(join(folder, path), 'utf8')]),
  );
}
