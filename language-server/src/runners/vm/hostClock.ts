import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpawnTool } from './tools.ts';

/** One look of the program at both clocks: ticks before, what clock_gettime(2) said, ticks after. */
const lookBytes = 32;
/** In each of the two rounds. */
const looks = 32;
const outputBytes = 2 * looks * lookBytes;

/**
 * The instructions of a program for Linux on x86-64 that looks at the processor's time stamp counter and at
 * CLOCK_MONOTONIC 32 times, waits for 50 ms, does so again, and writes all of it. No system call tells the counter's speed,
 * and the kernel's messages, which do, are root's. A VM has no other clock to hold it against: it would have to boot with a
 * wrong one, ask for this machine's time and boot again, and would not notice that its store came to another processor.
 */
const instructions = [
  '4881ec00080000 4889e3 41bc02000000', // room on the stack; two rounds
  '41bd20000000', // of 32 looks
  '0f31 48c1e220 4809d0 488903', // rdtsc
  'bf01000000 488d7308 b8e4000000 0f05', // clock_gettime
  '0f31 48c1e220 4809d0 48894318', // rdtsc
  '4883c320 41ffcd 75ce', // the next look
  '41ffcc 7419 6880f0fa02 6a00 4889e7 31f6 b823000000 0f05 4883c410 ebaa', // nanosleep, the next round
  'bf01000000 4889e6 ba00080000 b801000000 0f05', // write
  '31ff b83c000000 0f05', // exit
];

/** The program as a file (elf(5)): one segment, that is read and run and not written. */
function clockProgram(): Buffer {
  const code = Buffer.from(instructions.join('').replaceAll(' ', ''), 'hex');
  const [headBytes, base] = [120, 0x400000];
  const size = headBytes + code.length;
  const head = Buffer.alloc(headBytes);
  head.write('7f454c4602010100', 0, 'hex');
  /** Type (executable), machine (x86-64), sizes of both headers, number of segments. */
  const shorts = { 16: 2, 18: 62, 52: 64, 54: 56, 56: 1 };
  /** Version; of the segment its type (loaded) and rights (read and run). */
  const words = { 20: 1, 64: 1, 68: 5 };
  /** Entry, where the segment's header is; of the segment its addresses, sizes and alignment. */
  const longs = { 24: base + headBytes, 32: 64, 80: base, 88: base, 96: size, 104: size, 112: 4096 };
  for (const [at, value] of Object.entries(shorts)) head.writeUInt16LE(value, Number(at));
  for (const [at, value] of Object.entries(words)) head.writeUInt32LE(value, Number(at));
  for (const [at, value] of Object.entries(longs)) head.writeBigUInt64LE(BigInt(value), Number(at));
  return Buffer.concat([head, code]);
}

/** Thousands of ticks in a second, from what the program wrote; undefined where that makes no sense. */
export function toClockKHz(output: Uint8Array): number | undefined {
  if (output.length !== outputBytes) return undefined;
  const view = Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  const [first, last] = [0, 1].map((round) => {
    const all = Array.from({ length: looks }, (_, look) => {
      const at = (round * looks + look) * lookBytes;
      const [before, after] = [view.readBigInt64LE(at), view.readBigInt64LE(at + 24)];
      const nanoseconds = view.readBigInt64LE(at + 8) * 1_000_000_000n + view.readBigInt64LE(at + 16);
      return { ticks: (before + after) / 2n, gap: after - before, nanoseconds };
    });
    // Nothing came in between the closest pair.
    return all.reduce((best, each) => (each.gap < best.gap ? each : best));
  });
  if (!first || !last) return undefined;
  const kHz = Number(last.ticks - first.ticks) / (Number(last.nanoseconds - first.nanoseconds) / 1e6);
  return kHz > 100_000 && kHz < 20_000_000 ? Math.round(kHz) : undefined;
}

/** Runs the program; undefined where nothing may be run from `folder`. */
export async function measureClock(folder: string, spawnTool: SpawnTool): Promise<number | undefined> {
  const path = join(folder, `clock-${process.pid}`);
  try {
    writeFileSync(path, clockProgram(), { mode: 0o700 });
    const child = spawnTool(path, [], folder);
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    return code === 0 ? toClockKHz(Buffer.concat(chunks)) : undefined;
  } catch {
    return undefined;
  } finally {
    rmSync(path, { force: true });
  }
}

/** Two measurements of one clock differ by less. */
const slack = 0.001;

/**
 * The speed of the time stamp counter that a translated VM sees, which is this machine's. What was found for an image
 * stays, as a stored VM goes on with the speed that it was booted with; undefined where it can't be found.
 */
export async function chooseClock(
  image: string,
  measure: () => Promise<number | undefined>,
): Promise<number | undefined> {
  const file = join(image, 'clock.json');
  const measured = await measure();
  if (measured === undefined) return undefined;
  const known = readKHz(file);
  if (known !== undefined && Math.abs(known / measured - 1) < slack) return known;
  writeFileSync(file, JSON.stringify({ kHz: measured }), { mode: 0o600 });
  return measured;
}

function readKHz(file: string): number | undefined {
  try {
    const { kHz } = JSON.parse(readFileSync(file, 'utf8')) as { kHz?: unknown };
    return typeof kHz === 'number' ? kHz : undefined;
  } catch {
    return undefined;
  }
}
