import type { PermissionSet } from './permissionSet.ts';

/** What an app and its plugins may store together, in bytes: the largest that any of them was given. */
export function storageLimitBytes({ app, plugins }: PermissionSet): number {
  const megabytes = [...app, ...Object.values(plugins).flat()].map((each) =>
    each.name === 'storage' ? each.megabytes : 0,
  );
  return Math.max(0, ...megabytes) * 1024 * 1024;
}
