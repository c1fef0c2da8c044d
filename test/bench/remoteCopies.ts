import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createBlobStore, type StoredBlob } from '../../remote-agent/src/files/blobStore.ts';
import { removeHost, SshHost } from '../support/sshHost.ts';
import { measureInTurns, missingRow, ratioRow, type BenchRow } from './benchRow.ts';
import { bigCopies } from './bigCopies.ts';
import { openLink, openSsh, partsFor, type OpenSsh } from './sshBench.ts';

const run = promisify(execFile);
const rounds = 5;
const smallCount = 10_000;
const smallBytes = 1024;

/**
 * Copies to a host and back against OpenSSH, on loopback, over one connection each that is open already. Ours are stored
 * by content and checked by digest at the receiving end; neither side waits for the disk.
 */
export async function remoteCopiesBench(): Promise<BenchRow[]> {
  if (!existsSync('/usr/sbin/sshd')) return [missingRow('remote', 'copies over SSH: sshd', '')];
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-copies-'));
  const host = new SshHost({ folder: join(folder, 'host'), settings: ['Subsystem sftp internal-sftp'] });
  try {
    await host.start();
    const openssh = openSsh(folder, host);
    try {
      return [...(await bigCopies(folder, host, openssh)), await smallCopies(folder, host, openssh)];
    } finally {
      openssh.close();
    }
  } finally {
    await removeHost(host);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function smallCopies(folder: string, host: SshHost, openssh: OpenSsh): Promise<BenchRow> {
  const store = createBlobStore(join(folder, 'small'));
  const link = await openLink(partsFor(folder, host).transport('lab'), store.folder);
  try {
    let blobs: StoredBlob[] = [];
    let round = 0;
    const files = () => join(folder, `files-${round}`);
    const times = await measureInTurns(rounds, {
      make: () => {
        round += 1;
        mkdirSync(files());
        blobs = Array.from({ length: smallCount }, (_, index) => {
          const bytes = randomBytes(smallBytes);
          writeFileSync(join(files(), String(index)), bytes);
          return store.putBytes(bytes);
        });
      },
      ours: () => link.put(blobs),
      tar: () => {
        const there = join(host.home, `files-${round}`);
        const ssh = openssh.words.join(' ');
        return run('sh', [
          '-c',
          `tar -C ${files()} -cf - . | ${ssh} 'mkdir ${there} && tar -C ${there} -xf -'`,
        ]);
      },
    });
    return ratioRow(
      {
        group: 'remote',
        name: `${smallCount} files of 1 KB to the host, against tar | ssh tar`,
        unit: 'ms',
        goal: '≤ 2 × tar',
        ours: times.ours,
        peer: times.tar,
      },
      2,
    );
  } finally {
    link.close();
  }
}
