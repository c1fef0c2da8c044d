import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAgentsVault, type AgentsVault } from '../../extension/src/vault/core/agentsVault.ts';
import { derivePasswordKey, passwordOf, scryptFloor } from '../../extension/src/vault/core/passwordKey.ts';
import { createPersonalVault, openPersonalVault } from '../../extension/src/vault/core/personalVault.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';
import { loginDraft } from '../support/vaultHarness.ts';
import { limitRow, measureInTurns, median, missingRow, ratioRow, type BenchRow } from './benchRow.ts';

const group = 'vault';
const few = 10_000;
const many = 100_000;
const figuresProgram = join(import.meta.dirname, '../support/vaultFigures.ts');

/**
 * The vault's files: unlocking beside one bare scrypt, saving beside a bare synced write, listing and opening in a large
 * vault, and the same acts by `age`, `pass` and KeePassXC's command line where they are installed.
 */
export async function vaultBench(): Promise<BenchRow[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-bench-')));
  try {
    const large = join(folder, 'large');
    make(large, few);
    return [
      await unlockRow(folder),
      ...(await largeRows(large, folder)),
      ...hugeRows(join(folder, 'huge')),
      ...(await peerRows(large, folder)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A personal vault of 10,000 items: everything from the password to an open vault, beside the derivation alone. */
async function unlockRow(folder: string): Promise<BenchRow> {
  const place = { folder: join(folder, 'personal'), counters: null };
  const password = passwordOf('a password of the bench');
  const { vault, secretKey } = await createPersonalVault(place, password);
  await fill(vault, few);
  vault.lock();
  const salt = randomBytes(32);
  const works = {
    ours: async () => {
      const result = await openPersonalVault(place, { password, secretKey });
      if (result.state !== 'open') throw new Error(result.state);
      result.vault.lock();
    },
    scrypt: async () => {
      (await derivePasswordKey(password, salt, scryptFloor)).fill(0);
    },
  };
  // The fastest of each: what else the machine does falls on half a second of memory traffic more than on anything.
  const rounds: Record<keyof typeof works, number>[] = [];
  for (let round = 0; round < 11; round++) rounds.push(await measureInTurns(1, works));
  const fastest = (name: keyof typeof works) => Math.min(...rounds.map((times) => times[name]));
  const name = `unlock with ${few} items, the fastest of 11; peer one scrypt of N=2^17, r=8, p=1`;
  return ratioRow(
    { group, name, ours: fastest('ours'), peer: fastest('scrypt'), unit: 'ms', goal: '≤ 1.15 × one scrypt' },
    1.15,
  );
}

async function largeRows(large: string, folder: string): Promise<BenchRow[]> {
  const vault = await openAgents(large);
  const times: Record<'list' | 'open', number[]> = { list: [], open: [] };
  for (let round = 0; round < 21; round++) {
    // A save makes the list anew.
    const { id } = await vault.save(loginDraft(`round-${round}`, 'x'));
    let startedAt = performance.now();
    vault.list();
    times.list.push(performance.now() - startedAt);
    startedAt = performance.now();
    (await vault.open(round % 2 === 0 ? id : `item-${round * 400}`, 'password')).wipe();
    times.open.push(performance.now() - startedAt);
  }
  const bytes = randomBytes(1000);
  let at = 0;
  const save = await measureInTurns(41, {
    ours: () => vault.save(loginDraft(`saved-${at++}`, 'x')),
    bare: () => {
      const handle = openSync(join(folder, 'bare'), 'w');
      writeSync(handle, bytes);
      fsyncSync(handle);
      closeSync(handle);
    },
  });
  vault.lock();
  return [
    limitRow({ group, name: `list ${few} items after a change`, ours: median(times.list), unit: 'ms' }, 50),
    limitRow({ group, name: `open one of ${few}`, ours: median(times.open), unit: 'ms' }, 2),
    ratioRow(
      {
        group,
        name: `save one of ${few}, all that it syncs; peer a file of 1 kB written and synced`,
        ours: save.ours,
        peer: save.bare,
        unit: 'ms',
        goal: '≤ 5 × a bare synced write',
      },
      5,
    ),
  ];
}

/** Each in a process of its own: what it takes to open a vault of 100,000 items from nothing and to list it. */
function hugeRows(folder: string): BenchRow[] {
  make(folder, many);
  const runs = Array.from({ length: 5 }, () => {
    const { stdout } = node([figuresProgram, folder, 'open', String(many)]);
    return JSON.parse(stdout) as { openMs: number; listMs: number; addedMB: number };
  });
  const of = (pick: (run: (typeof runs)[number]) => number) => median(runs.map(pick));
  const name = `${many} items`;
  return [
    limitRow(
      {
        group,
        name: `${name}: open from nothing and list`,
        ours: of((run) => run.openMs + run.listMs),
        unit: 'ms',
      },
      500,
    ),
    limitRow({ group, name: `${name}: list alone`, ours: of((run) => run.listMs), unit: 'ms' }, 500),
    limitRow(
      {
        group,
        name: `${name}: memory that the process grows by`,
        ours: of((run) => run.addedMB),
        unit: 'MB',
      },
      150,
    ),
  ];
}

/** One value read, with whatever each tool needs to be open first; and one value saved. */
async function peerRows(large: string, folder: string): Promise<BenchRow[]> {
  const vault = await openAgents(large);
  let round = 0;
  const ours = {
    read: async () => {
      using secret = await vault.open('item-77', 'password');
      return secret.length;
    },
    save: () => vault.save(loginDraft(`peer-${round++}`, 'x')),
  };
  const rows: BenchRow[] = [];
  for (const peer of [agePeer(folder), passPeer(), keepassPeer(folder)]) {
    for (const act of ['read', 'save'] as const) {
      const name = `${act} one value; peer ${peer.name}`;
      if (!peer.acts) {
        rows.push(missingRow(group, name, ''));
        continue;
      }
      const times = await measureInTurns(9, { ours: ours[act], peer: peer.acts[act] });
      rows.push(ratioRow({ group, name, ours: times.ours, peer: times.peer, unit: 'ms', goal: '' }, null));
    }
  }
  vault.lock();
  return rows;
}

interface Peer {
  readonly name: string;
  readonly acts: Readonly<Record<'read' | 'save', () => void>> | undefined;
}

/** A file for each value, encrypted to a key file: no index, no guard against older files. */
function agePeer(folder: string): Peer {
  const name = 'age, one file to a key file';
  if (!existsSync('/usr/bin/age')) return { name, acts: undefined };
  const home = join(folder, 'age');
  mkdirSync(home);
  const key = join(home, 'key.txt');
  run(home, 'age-keygen', ['-o', key]);
  const recipient = run(home, 'age-keygen', ['-y', key]).trim();
  const save = () => void run(home, 'age', ['-r', recipient, '-o', join(home, 'value.age')], 'password');
  save();
  return {
    name,
    acts: { save, read: () => void run(home, 'age', ['-d', '-i', key, join(home, 'value.age')]) },
  };
}

/** A GnuPG file for each value. */
function passPeer(): Peer {
  const name = 'pass (GnuPG, key without passphrase)';
  if (!existsSync('/usr/bin/pass') || !existsSync('/usr/bin/gpg')) return { name, acts: undefined };
  // The agent's socket has a short path.
  const home = mkdtempSync('/tmp/sp-');
  try {
    run(home, 'gpg', [
      '--batch',
      '--passphrase',
      '',
      '--quick-generate-key',
      'bench@localhost',
      'default',
      'default',
      'never',
    ]);
    run(home, 'pass', ['init', 'bench@localhost']);
    const save = () => void run(home, 'pass', ['insert', '-m', '-f', 'item'], 'password\n');
    save();
    process.once('exit', () => {
      run(home, 'gpgconf', ['--kill', 'all']);
      rmSync(home, { recursive: true, force: true });
    });
    return { name, acts: { save, read: () => void run(home, 'pass', ['show', 'item']) } };
  } catch {
    rmSync(home, { recursive: true, force: true });
    return { name, acts: undefined };
  }
}

/** The whole file is opened and written for each act. */
function keepassPeer(folder: string): Peer {
  const name = 'keepassxc-cli, a database with one item';
  if (!existsSync('/usr/bin/keepassxc-cli')) return { name, acts: undefined };
  const home = join(folder, 'keepass');
  mkdirSync(home);
  const database = join(home, 'bench.kdbx');
  const key = join(home, 'key');
  writeFileSync(key, randomBytes(64));
  try {
    run(home, 'keepassxc-cli', ['db-create', '-q', '--set-key-file', key, database]);
    const options = ['-q', '--no-password', '-k', key];
    run(home, 'keepassxc-cli', ['add', ...options, '-p', database, 'item'], 'password\npassword\n');
    return {
      name,
      acts: {
        save: () =>
          void run(home, 'keepassxc-cli', ['edit', ...options, '-p', database, 'item'], 'next\nnext\n'),
        read: () =>
          void run(home, 'keepassxc-cli', ['show', ...options, '-s', '-a', 'Password', database, 'item']),
      },
    };
  } catch {
    return { name, acts: undefined };
  }
}

async function fill(
  vault: AgentsVault | Awaited<ReturnType<typeof createPersonalVault>>['vault'],
  count: number,
) {
  await vault.saveAll(
    Array.from({ length: count }, (_, at) => loginDraft(`item-${at}`, `password of ${at}`)),
  );
}

async function openAgents(folder: string): Promise<AgentsVault> {
  const result = await openAgentsVault({ folder, counters: null }, Secret.own(Buffer.alloc(32, 7)));
  if (result.state !== 'open') throw new Error(result.state);
  return result.vault;
}

function make(folder: string, count: number): void {
  node([figuresProgram, folder, 'make', String(count)]);
}

function node(args: readonly string[]): { stdout: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return { stdout };
}

function run(home: string, program: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    input,
    encoding: 'utf8',
    env: {
      PATH: '/usr/bin:/bin',
      HOME: home,
      GNUPGHOME: join(home, '.gnupg'),
      QT_QPA_PLATFORM: 'offscreen',
      LC_ALL: 'C.UTF-8',
    },
  });
  if (status !== 0) throw new Error(`${program} ${args[0] ?? ''}: ${stderr}`);
  return stdout;
}
