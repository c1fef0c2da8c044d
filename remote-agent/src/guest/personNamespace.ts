import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { guestPerson } from '../../../protocol/src/vmGuest.ts';

/**
 * Opens a user namespace that belongs to the person and in which every user is who it is outside (user_namespaces(7)),
 * and returns its descriptor. A capability in it counts for files alone that the person's mounts show; none of them
 * counts outside. Only for root. Rejects where the kernel refuses any of it.
 */
export async function openPersonNamespace(): Promise<number> {
  const { id } = guestPerson;
  const holder = spawn(
    '/usr/bin/busybox',
    ['unshare', '-U', '/usr/bin/busybox', 'sh', '-c', 'echo; read -r _'],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
      uid: id,
      gid: id,
      env: {},
    },
  );
  const ended = once(holder, 'exit');
  try {
    await Promise.race([
      once(holder.stdout, 'data'),
      ended.then(() => {
        throw new Error('the kernel gives the person no user namespace');
      }),
    ]);
    const folder = `/proc/${holder.pid}`;
    for (const map of ['uid_map', 'gid_map']) writeFileSync(`${folder}/${map}`, everybody);
    return openSync(`${folder}/ns/user`, 'r');
  } finally {
    holder.stdin.destroy();
    await ended;
  }
}

const everybody = '0 0 4294967295\n';
