import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import { showHidden } from '../../../../protocol/src/text.ts';
import { issueTexts } from '../issueText.ts';

/** One package that is built into an app's page. Its bytes are `integrity`, wherever they come from. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-…`, Subresource Integrity (W3C). */
  readonly integrity: string;
  /** Where it lies for the compiler: `node_modules/a/node_modules/b`. */
  readonly place: string;
}

const dependencies = z.optional(z.record(z.string(), z.string()));
const packageFile = z.object({
  dependencies,
  devDependencies: dependencies,
  optionalDependencies: dependencies,
  workspaces: z.optional(z.unknown()),
});
const lockEntry = z.object({
  name: z.optional(z.string()),
  version: z.optional(z.string()),
  resolved: z.optional(z.string()),
  integrity: z.optional(z.string()),
  link: z.optional(z.boolean()),
  dev: z.optional(z.boolean()),
  devOptional: z.optional(z.boolean()),
  optional: z.optional(z.boolean()),
  inBundle: z.optional(z.boolean()),
  os: z.optional(z.unknown()),
  cpu: z.optional(z.unknown()),
});
const lockFile = z.object({
  lockfileVersion: z.union([z.literal(2), z.literal(3)]),
  packages: z.record(z.string(), lockEntry),
});
type LockEntry = z.infer<typeof lockEntry>;

const name = '(?:@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*';
const placePattern = new RegExp(`^node_modules/${name}(?:/node_modules/${name})*$`);
const namePattern = new RegExp(`^${name}$`);
const versionPattern = /^[0-9A-Za-z.+-]{1,128}$/;
const integrityPattern = /^sha512-[A-Za-z0-9+/]{86}==$/;
const specifierPattern = new RegExp(`^(?:npm:${name}(?:@[^/:]*)?|[^/:]*)$`);

/**
 * The packages that an app needs, from the text of its `package.json` and `package-lock.json` (npm, version 2 or 3).
 * Only packages of a registry, each with a SHA-512: a link, a folder, a git or web address, a workspace or a bundled
 * package is refused (`bad-app`). Packages that are for development alone are left out.
 */
export function readPackages(packageText: string | null, lockText: string | null): LockedPackage[] {
  if (packageText === null) return [];
  const wanted = parse(packageFile, packageText, 'package.json');
  const asked = { ...wanted.optionalDependencies, ...wanted.dependencies };
  if (wanted.workspaces !== undefined) throw bad('package.json has workspaces; an app is one package');
  for (const [dependency, specifier] of Object.entries({ ...wanted.devDependencies, ...asked })) {
    if (!namePattern.test(dependency) || !specifierPattern.test(specifier))
      throw bad(`package.json takes ${dependency} from ${specifier}; only packages of a registry are taken`);
  }
  if (Object.keys(asked).length === 0) return [];
  if (lockText === null)
    throw bad(
      'package.json names dependencies and there is no package-lock.json; make it with “npm install”',
    );
  const { packages } = parse(lockFile, lockText, 'package-lock.json');
  const found = Object.entries(packages).flatMap(([place, entry]) => toPackage(place, entry) ?? []);
  if (found.length > appLimits.packages) throw bad(`it needs more than ${appLimits.packages} packages`);
  for (const dependency of Object.keys(wanted.dependencies ?? {})) {
    if (!found.some(({ place }) => place === `node_modules/${dependency}`))
      throw bad(
        `package-lock.json has no ${dependency}, which package.json needs; run “npm install” and commit it`,
      );
  }
  assertOneIntegrity(found);
  return found.sort((a, b) => (a.place < b.place ? -1 : 1));
}

/** How a package stands in a set of permissions. */
export function packageKey({ name: own, version, integrity }: LockedPackage): string {
  return `${own}@${version} ${integrity}`;
}

/** The path of a package on a registry, below its address. */
export function tarballPath({ name: own, version }: Pick<LockedPackage, 'name' | 'version'>): string {
  const base = own.slice(own.indexOf('/') + 1);
  return `${own}/-/${base}-${version.replace(/\+.*$/, '')}.tgz`;
}

function toPackage(place: string, entry: LockEntry): LockedPackage | undefined {
  if (place === '' || entry.dev === true || entry.devOptional === true) return undefined;
  if (!placePattern.test(place) || entry.link === true)
    throw bad(`package-lock.json links ${place}; only packages of a registry are taken`);
  if (entry.optional === true && (entry.os !== undefined || entry.cpu !== undefined)) return undefined;
  if (entry.inBundle === true)
    throw bad(`${place} is bundled in another package, so it has no digest of its own`);
  const own = entry.name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const { version, integrity, resolved } = entry;
  if (!namePattern.test(own) || version === undefined || !versionPattern.test(version))
    throw bad(`package-lock.json names no sound version of ${place}`);
  if (integrity === undefined || !integrityPattern.test(integrity))
    throw bad(`package-lock.json has no sha512 of ${own}; run “npm install” with a registry that gives one`);
  if (resolved === undefined || !isRegistryAddress(resolved, tarballPath({ name: own, version })))
    throw bad(
      `package-lock.json takes ${own} from ${resolved ?? 'nowhere'}; only packages of a registry are taken`,
    );
  return { name: own, version, integrity, place };
}

/** The host is not looked at: bytes come from the registry that the person set, and must have the digest. */
function isRegistryAddress(address: string, path: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, pathname, username, password, search, hash } = new URL(address);
  const isPlain = username === '' && password === '' && search === '' && hash === '';
  return (protocol === 'https:' || protocol === 'http:') && isPlain && pathname.endsWith(`/${path}`);
}

function assertOneIntegrity(packages: readonly LockedPackage[]): void {
  const known = new Map<string, string>();
  for (const { name: own, version, integrity } of packages) {
    const key = `${own}@${version}`;
    if ((known.get(key) ?? integrity) !== integrity) throw bad(`package-lock.json gives ${key} two digests`);
    known.set(key, integrity);
  }
}

function parse<S extends z.ZodMiniType>(schema: S, text: string, file: string): z.infer<S> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad(`${file} is not JSON`);
  }
  const fits = z.safeParse(schema, value);
  if (fits.success) return fits.data;
  throw bad(`${file} does not have the form of npm: ${issueTexts(fits.error)}`);
}

function bad(what: string): UserError {
  return new UserError('bad-app', showHidden(`The app’s packages can’t be taken: ${what}.`));
}
