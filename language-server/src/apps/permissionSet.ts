import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalJson, type Json } from '../../../protocol/src/canonicalJson.ts';
import { covers, permission, widening, type Permission } from '../../../protocol/src/permissions.ts';

/** Everything that one version of an app asks for, or that a person accepted of it. Lists are in canonical order. */
export const permissionSet = z.strictObject({
  app: z.array(permission),
  plugins: z.record(z.string(), z.array(permission)),
  /** `name@version integrity` of each package that is built into the page. */
  packages: z.array(z.string()),
});
export type PermissionSet = z.infer<typeof permissionSet>;

/** What `asked` has beyond `accepted`. A plugin that was not accepted is wider even where it asks for nothing. */
export interface Widening {
  readonly app: readonly Permission[];
  readonly plugins: readonly {
    readonly id: string;
    readonly isNew: boolean;
    readonly permissions: readonly Permission[];
  }[];
  /** Packages that were added or changed, and names of those that went. */
  readonly packages: boolean;
}

/** Empty lists and `packages: false` where nothing is wider. */
export function wideningOf(accepted: PermissionSet, asked: PermissionSet): Widening {
  return {
    app: widening(accepted.app, asked.app),
    plugins: Object.entries(asked.plugins).flatMap(([id, permissions]) => {
      const had = ownList(accepted, id);
      const more = widening(had ?? [], permissions);
      return had === undefined || more.length > 0
        ? [{ id, isNew: had === undefined, permissions: more }]
        : [];
    }),
    packages: [...accepted.packages].sort().join('\n') !== [...asked.packages].sort().join('\n'),
  };
}

/**
 * What may be used while it runs: of what the frozen manifest asks for, that which a person accepted. Plugins that were
 * not accepted are absent.
 */
export function allowed(accepted: PermissionSet, manifest: PermissionSet): PermissionSet {
  const both = (have: readonly Permission[], want: readonly Permission[]) =>
    want.filter((each) => have.some((other) => covers(other, each)));
  return {
    app: both(accepted.app, manifest.app),
    plugins: Object.fromEntries(
      Object.entries(manifest.plugins).flatMap(([id, asked]) => {
        const had = ownList(accepted, id);
        return had === undefined ? [] : [[id, both(had, asked)]];
      }),
    ),
    packages: manifest.packages.filter((each) => accepted.packages.includes(each)),
  };
}

/** No rights at all. */
export const nothing: PermissionSet = { app: [], plugins: {}, packages: [] };

/** SHA-256 over the canonical JSON of a value. */
export function digestOf(value: Json): string {
  return createHash('sha256').update(canonicalJson(value), 'utf8').digest('hex');
}

function ownList(set: PermissionSet, id: string): readonly Permission[] | undefined {
  return Object.hasOwn(set.plugins, id) ? set.plugins[id] : undefined;
}
