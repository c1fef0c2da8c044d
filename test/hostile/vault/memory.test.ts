import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VaultHarness } from '../../support/vaultHarness.ts';

const program = join(import.meta.dirname, '../../support/memoryVault.ts');

describe('memory of a process that had a vault open', () => {
  let harness: VaultHarness;
  beforeEach(() => (harness = new VaultHarness()));
  afterEach(() => harness.close());

  before(function () {
    if (existsSync(`/proc/${process.pid}/mem`)) return;
    process.stdout.write('No /proc/PID/mem here: memory can’t be searched.\n');
    this.skip();
  });

  it('[SEAL-10] V30 after the lock: no vault key, no device key, no value', async () => {
    const found = await search('lock');
    assert.deepEqual(found, { vaultKeys: 0, deviceKey: 0, value: 0 });
  });

  it('[SEAL-10] control: before the lock they are found', async () => {
    const found = await search('keep');
    assert.ok(found.vaultKeys > 0 && found.deviceKey > 0 && found.value > 0, JSON.stringify(found));
  });

  async function search(mode: string) {
    const bytes = randomBytes(16 * 1024);
    const source = join(harness.root, 'source');
    writeFileSync(source, bytes);
    const child = spawn(process.execPath, ['--expose-gc', program, harness.root, source, mode], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    try {
      const text = await new Promise<string>((resolve, reject) => {
        child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
        child.once('close', (code) => reject(new Error(`ended with ${code}`)));
      });
      const draws = (JSON.parse(text) as [number, number][]).map(([at, length]) =>
        bytes.subarray(at, at + length),
      );
      const memory = readMemory(child.pid ?? 0);
      const count = (needle: Buffer | undefined) =>
        memory.filter((part) => needle && part.includes(needle)).length;
      const salts = publicBytes();
      const [deviceKey, ...keys] = draws.filter(
        (draw) => draw.length === 32 && !salts.includes(draw.toString('base64')),
      );
      assert.ok(keys.length >= 3);
      return {
        vaultKeys: keys.reduce((sum, key) => sum + count(key), 0),
        deviceKey: count(deviceKey),
        value: count(bytes.subarray(0, 32)),
      };
    } finally {
      child.kill();
      await ended;
    }
  }

  /** Salts are drawn, too, and are no secret: they stand in the headers. */
  function publicBytes(): string {
    return ['agents', 'personal']
      .map((name) => readFileSync(join(harness.root, name, 'vault.json'), 'utf8'))
      .join();
  }
});

/** The writable memory of another process (proc(5)). */
function readMemory(pid: number): Buffer[] {
  const maps = readFileSync(`/proc/${pid}/maps`, 'latin1').split('\n');
  const handle = openSync(`/proc/${pid}/mem`, 'r');
  const parts: Buffer[] = [];
  try {
    for (const line of maps) {
      const [, from = '', to = '', flags = ''] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
      if (!flags.startsWith('rw')) continue;
      const [start, end] = [parseInt(from, 16), parseInt(to, 16)];
      for (let at = start; at < end; at += 2 ** 24) {
        const bytes = Buffer.allocUnsafeSlow(Math.min(2 ** 24, end - at));
        try {
          parts.push(bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, at)));
        } catch {
          // A page that can't be read holds nothing of ours.
        }
      }
    }
  } finally {
    closeSync(handle);
  }
  return parts;
}
