import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packCpio } from '../../language-server/src/runners/vm/cpio.ts';
import { firstProgram, guestPaths } from '../../language-server/src/runners/vm/guestScripts.ts';
import { qemuArguments, type VmShape } from '../../language-server/src/runners/vm/qemuArguments.ts';
import { imageFiles } from '../../language-server/src/runners/vm/vmFolder.ts';
import { guestPorts } from '../../protocol/src/vmGuest.ts';

/** A VM of the image with nothing of ours in it that runs: a shell that starts programs when it is told to. */
export interface BareGuest {
  /** A bare bubblewrap with the namespaces of a card around `sh -c true`. */
  readonly bubblewrap: () => Promise<void>;
  /** The same shell without any sandbox: what a program costs there at the least. */
  readonly shell: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** QEMU's arguments for the image's kernel with another first memory and no sandbox of QEMU's own. */
export function bareArguments(shape: VmShape, image: string, initrd: string): string[] {
  const files = imageFiles(image);
  const args = qemuArguments(
    shape,
    {
      ...files,
      initrd,
      disk: files.root,
      diskFormat: 'raw',
      control: 'c',
      bulk: 'b',
      terminal: 't',
      monitor: 'm',
      console: 'log',
      shares: [],
    },
    { kind: 'boot' },
  );
  return args
    .filter((each, at, all) => each !== '-sandbox' && all[at - 1] !== '-sandbox')
    .map((each) => each.replace(',discard=unmap', ',readonly=on'));
}

/** The image's own first memory with another first program. */
export function writeInitrd(image: string, path: string, init: string): void {
  const own = readFileSync(imageFiles(image).initrd);
  // Two archives one after the other: what is in the later one stands (initramfs of the Linux kernel).
  const more = packCpio([{ path: 'init', mode: 0o755, content: Buffer.from(init) }]);
  writeFileSync(path, Buffer.concat([own, more]));
}

const bubblewrap = [
  ...['bwrap --unshare-all --unshare-user --disable-userns --cap-drop ALL --die-with-parent --new-session'],
  ...[
    '--clearenv --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64',
  ],
  ...['--proc /proc --dev /dev --tmpfs /tmp --tmpfs /home --remount-ro / --'],
].join(' ');

/** Reads one letter a line from the port, and answers each when what it stands for has ended. */
const loop = `#!/bin/sh
/usr/bin/busybox mount -t sysfs s /sys
/usr/bin/busybox mount -t tmpfs t /tmp
for each in /sys/class/virtio-ports/*; do
  [ "$(cat $each/name)" = ${guestPorts.control} ] && exec 3<>/dev/\${each##*/}
done
while read -r what <&3; do
  case $what in
  b) ${bubblewrap} /bin/sh -c true ;;
  s) /bin/sh -c true ;;
  esac && echo $what >&3
done
`;

export async function startBareGuest(shape: VmShape, image: string): Promise<BareGuest> {
  const work = mkdtempSync(join(tmpdir(), 'sallyport-bench-bare-'));
  const leave = `exec $B switch_root /root ${guestPaths.start}`;
  const init = firstProgram().replace(
    leave,
    () => `$B cat >/root/loop <<'END'\n${loop}END\nexec $B switch_root /root /bin/sh /loop`,
  );
  writeInitrd(image, join(work, 'initrd'), init);
  const child = spawn('qemu-system-x86_64', bareArguments(shape, image, 'initrd'), {
    cwd: work,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(work, { recursive: true, force: true });
  };
  try {
    const socket = await opened(join(work, 'c'));
    const ask = (what: string) =>
      new Promise<void>((resolve, reject) => {
        let said = '';
        const hear = (text: Buffer) => {
          said += text.toString('latin1');
          if (said.endsWith('\n')) done(said.trim() === what ? undefined : new Error(`it said ${said}`));
        };
        const timer = setTimeout(() => done(new Error('the bare VM does not answer')), answerMs);
        const done = (error?: Error) => {
          clearTimeout(timer);
          socket.off('data', hear);
          if (error) reject(error);
          else resolve();
        };
        socket.on('data', hear);
        socket.write(`${what}\n`);
      });
    return { bubblewrap: () => ask('b'), shell: () => ask('s'), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A VM that boots on translated instructions, beside other work. */
const answerMs = 120_000;

async function opened(path: string): Promise<Socket> {
  for (let left = 1000; ; left -= 1) {
    const socket = connect(path);
    const found = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (found) return socket;
    if (left === 0) throw new Error('QEMU made no port');
    await pause(10);
  }
}
