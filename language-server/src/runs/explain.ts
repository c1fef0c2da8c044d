import type { TreeEntry } from '../../../protocol/src/artifacts.ts';
import type { KeyPartChange } from '../../../protocol/src/engine.ts';
import type { KeyParts } from './cacheKey.ts';

/** The listing of a frozen code folder by digest; undefined where it was removed since. */
export type ListCode = (digest: string) => readonly TreeEntry[] | undefined;

/** What differs between two sets of key parts, by name: the file, the parameter, the port. In the order of the parts. */
export function explainChange(before: KeyParts, after: KeyParts, listCode: ListCode): KeyPartChange[] {
  const changes: KeyPartChange[] = [];
  const add = (part: KeyPartChange['part'], details: readonly string[]) => {
    for (const detail of details) changes.push({ part, detail });
  };
  if (before.code.digest !== after.code.digest) {
    add('code', namedFew(codeChanges(listCode(before.code.digest), listCode(after.code.digest))));
  }
  if (showRuntime(before.runtime) !== showRuntime(after.runtime)) {
    add('runtime', [`${showRuntime(before.runtime)} became ${showRuntime(after.runtime)}`]);
  }
  add('params', recordChanges(before.params, after.params, { values: true }));
  add('inputs', recordChanges(before.inputs, after.inputs, { values: false }));
  add('outputs', recordChanges(before.outputs, after.outputs, { values: true }));
  add('environment', recordChanges(before.environment, after.environment, { values: true }));
  add('permissions', [
    ...after.permissions.filter((key) => !before.permissions.includes(key)).map((key) => `${key} was added`),
    ...before.permissions
      .filter((key) => !after.permissions.includes(key))
      .map((key) => `${key} was removed`),
  ]);
  add('limits', recordChanges(before.limits, after.limits, { values: true }));
  return changes;
}

const namedFiles = 10;

function namedFew(details: string[]): string[] {
  const rest = details.length - namedFiles;
  return rest > 0 ? [...details.slice(0, namedFiles), `and ${rest} more files`] : details;
}

function codeChanges(
  before: readonly TreeEntry[] | undefined,
  after: readonly TreeEntry[] | undefined,
): string[] {
  if (!before || !after) return ['a file of the card'];
  const toMap = (entries: readonly TreeEntry[]) =>
    new Map(entries.map((entry) => [entry.path, JSON.stringify(entry)]));
  const changes = differences(toMap(before), toMap(after));
  return changes.map(({ name, kind }) => `${name}${kind === 'changed' ? '' : ` was ${kind}`}`);
}

function recordChanges(
  before: Readonly<Record<string, string | number | boolean>>,
  after: Readonly<Record<string, string | number | boolean>>,
  { values }: { values: boolean },
): string[] {
  return differences(new Map(Object.entries(before)), new Map(Object.entries(after))).map(
    ({ name, kind, from, to }) =>
      kind !== 'changed'
        ? `${name} was ${kind}`
        : values
          ? `${name}: ${JSON.stringify(from)} became ${JSON.stringify(to)}`
          : name,
  );
}

interface Difference<T> {
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly from?: T | undefined;
  readonly to?: T | undefined;
}

function differences<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>): Difference<T>[] {
  const found: Difference<T>[] = [];
  for (const [name, to] of after) {
    if (!before.has(name)) found.push({ name, kind: 'added' });
    else if (before.get(name) !== to) found.push({ name, kind: 'changed', from: before.get(name), to });
  }
  for (const name of before.keys()) if (!after.has(name)) found.push({ name, kind: 'removed' });
  return found;
}

function showRuntime({ runtime, entry }: KeyParts['runtime']): string {
  return `${runtime} ${typeof entry === 'string' ? entry : JSON.stringify(entry)}`;
}
