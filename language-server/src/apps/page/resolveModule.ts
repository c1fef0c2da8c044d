import { posix } from 'node:path';

/** The files of an app and of its packages, by path: the packages lie below `node_modules/`. */
export interface ModuleFiles {
  has(path: string): boolean;
  read(path: string): Uint8Array;
}

/**
 * The file that `specifier` means in a module at `importer`, by the rules of Node and bundlers for browsers: relative
 * paths with their usual endings, packages by `exports`, `browser`, `module` and `main`. Nothing where there is none;
 * null where the package says that browsers have none.
 */
export function resolveModule(
  files: ModuleFiles,
  specifier: string,
  importer: string,
  kind: 'import' | 'require',
): string | null | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(specifier)) return undefined;
  const bare = specifier.startsWith('#') ? specifier : specifier.replace(/[?#].*$/s, '');
  if (bare.startsWith('.') || bare.startsWith('/')) {
    const target = bare.startsWith('/') ? bare.slice(1) : posix.join(posix.dirname(importer), bare);
    const path = posix.normalize(target);
    if (path.startsWith('..')) return undefined;
    return mapped(files, importer, asFile(files, path) ?? asFolder(files, path));
  }
  const own = packageAbove(files, importer);
  if (bare.startsWith('#')) {
    const target = own && pick(own.json['imports'], bare, kind);
    return own && target ? asFile(files, posix.join(own.folder, target)) : undefined;
  }
  const replaced = own && browserMap(own.json)?.[bare];
  if (replaced === false) return null;
  if (typeof replaced === 'string' && replaced.startsWith('.'))
    return asFile(files, posix.join(own.folder, replaced));
  return resolvePackage(files, typeof replaced === 'string' ? replaced : bare, importer, kind);
}

interface PackageFolder {
  readonly folder: string;
  readonly json: Readonly<Record<string, unknown>>;
}

function resolvePackage(
  files: ModuleFiles,
  specifier: string,
  importer: string,
  kind: 'import' | 'require',
): string | null | undefined {
  const parts = specifier.split('/');
  const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  const below = parts.slice(specifier.startsWith('@') ? 2 : 1).join('/');
  for (const place of placesAbove(importer)) {
    const folder = `${place}node_modules/${name}`;
    const json = readPackage(files, folder);
    if (!json) continue;
    if (json['exports'] !== undefined && json['exports'] !== null) {
      const target = pick(asMap(json['exports']), below === '' ? '.' : `./${below}`, kind);
      return target === undefined
        ? undefined
        : mapped(files, `${folder}/package.json`, asFile(files, posix.join(folder, target)));
    }
    const path = below === '' ? mainOf(files, { folder, json }) : posix.join(folder, below);
    return mapped(files, `${folder}/package.json`, asFile(files, path) ?? asFolder(files, path));
  }
  return undefined;
}

function mainOf(files: ModuleFiles, { folder, json }: PackageFolder): string {
  const named = [json['browser'], json['module'], json['main']].find((each) => typeof each === 'string');
  const path = posix.join(folder, typeof named === 'string' ? named : 'index.js');
  return path.startsWith(`${folder}/`) && (asFile(files, path) ?? asFolder(files, path)) !== undefined
    ? path
    : `${folder}/index.js`;
}

/** A package may say that browsers get another file, or none, for one of its own. */
function mapped(files: ModuleFiles, importer: string, path: string | undefined): string | null | undefined {
  if (path === undefined) return undefined;
  const own = packageAbove(files, importer);
  const map = own && browserMap(own.json);
  if (!map || !path.startsWith(own.folder === '' ? '' : `${own.folder}/`)) return path;
  const relative = `./${posix.relative(own.folder, path)}`;
  const replaced = map[relative] ?? map[relative.replace(/\.[^./]+$/, '')];
  if (replaced === false) return null;
  return typeof replaced === 'string' ? (asFile(files, posix.join(own.folder, replaced)) ?? path) : path;
}

/** The target of `key` in `exports` or `imports` (Node.js, “Packages”), for browsers. */
function pick(map: unknown, key: string, kind: 'import' | 'require'): string | undefined {
  if (typeof map !== 'object' || map === null) return undefined;
  const entries = Object.entries(map);
  const exact = entries.find(([each]) => each === key);
  if (exact) return condition(exact[1], kind, 0);
  const patterns = entries
    .filter(([each]) => each.includes('*'))
    .sort(([a], [b]) => b.indexOf('*') - a.indexOf('*') || b.length - a.length);
  for (const [pattern, value] of patterns) {
    const [head = '', tail = ''] = pattern.split('*');
    if (!key.startsWith(head) || !key.endsWith(tail) || key.length < head.length + tail.length) continue;
    const target = condition(value, kind, 0);
    return target?.replaceAll('*', () => key.slice(head.length, key.length - tail.length));
  }
  return undefined;
}

function asMap(exported: unknown): unknown {
  const isSugar =
    typeof exported !== 'object' ||
    exported === null ||
    Array.isArray(exported) ||
    !Object.keys(exported).some((key) => key.startsWith('.'));
  return isSugar ? { '.': exported } : exported;
}

function condition(value: unknown, kind: 'import' | 'require', depth: number): string | undefined {
  if (typeof value === 'string') return value.startsWith('./') ? value : undefined;
  if (typeof value !== 'object' || value === null || depth > 16) return undefined;
  const list = Array.isArray(value)
    ? (value as unknown[])
    : Object.entries(value).flatMap(([name, each]: [string, unknown]) =>
        ['browser', 'module', 'production', 'default', kind].includes(name) ? [each] : [],
      );
  for (const each of list) {
    const target = condition(each, kind, depth + 1);
    if (target !== undefined) return target;
  }
  return undefined;
}

const endings = ['', '.ts', '.tsx', '.mjs', '.js', '.jsx', '.cjs', '.json', '.css'];

function asFile(files: ModuleFiles, path: string): string | undefined {
  const ending = endings.find((each) => files.has(path + each));
  // TypeScript is imported by the name of what it becomes.
  const source = path.replace(/\.(m?)js(x?)$/, '.$1ts$2');
  return ending === undefined ? (source !== path && files.has(source) ? source : undefined) : path + ending;
}

function asFolder(files: ModuleFiles, path: string): string | undefined {
  const json = readPackage(files, path);
  if (json && path !== '') {
    const main = mainOf(files, { folder: path, json });
    return asFile(files, main) ?? asFile(files, `${main}/index`);
  }
  return asFile(files, path === '' ? 'index' : `${path}/index`);
}

function* placesAbove(importer: string): Generator<string, void, undefined> {
  for (let folder = posix.dirname(importer); folder !== '.' && folder !== ''; folder = posix.dirname(folder))
    if (posix.basename(folder) !== 'node_modules') yield `${folder}/`;
  yield '';
}

function packageAbove(files: ModuleFiles, importer: string): PackageFolder | undefined {
  for (const place of placesAbove(importer)) {
    const folder = place.replace(/\/$/, '');
    const json = readPackage(files, folder);
    if (json) return { folder, json };
  }
  return undefined;
}

function browserMap(json: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  const map = json['browser'];
  return typeof map === 'object' && map !== null ? (map as Readonly<Record<string, unknown>>) : undefined;
}

function readPackage(files: ModuleFiles, folder: string): Readonly<Record<string, unknown>> | undefined {
  const path = folder === '' ? 'package.json' : `${folder}/package.json`;
  const known = parsed.get(files) ?? new Map<string, PackageJson | undefined>();
  parsed.set(files, known);
  if (!known.has(path)) known.set(path, files.has(path) ? parsePackage(files.read(path)) : undefined);
  return known.get(path);
}

type PackageJson = Readonly<Record<string, unknown>>;

/** What was read of the packages of one build: each module of a package asks again. */
const parsed = new WeakMap<ModuleFiles, Map<string, PackageJson | undefined>>();
const packageBytes = 1024 * 1024;

function parsePackage(bytes: Uint8Array): PackageJson | undefined {
  if (bytes.length > packageBytes) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
