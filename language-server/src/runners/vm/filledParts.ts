import { basename, dirname } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { runTool, type SpawnTool } from './tools.ts';

/** Bytes of a file from `start` up to and without `end`. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/**
 * Where a file holds something: everything outside these parts is a hole, which reads as zeros. They are in their order,
 * and begin and end at multiples of `blockBytes` or with the file. Node can't ask for holes (lseek(2), SEEK_DATA);
 * qemu-img does. Throws `isolation-missing` where it is not installed, and `cancelled`.
 */
export async function filledParts(
  file: { readonly path: string; readonly sizeBytes: number },
  blockBytes: number,
  { spawnTool, signal }: { readonly spawnTool: SpawnTool; readonly signal: AbortSignal },
): Promise<Part[]> {
  const map = await runTool(spawnTool, {
    program: 'qemu-img',
    // Without a format, content that looks like one of QEMU's would be taken for it; without a slash, a name with a colon.
    args: ['map', '-f', 'raw', '--output=json', `./${basename(file.path)}`],
    folder: dirname(file.path),
    signal,
  });
  return toParts(map, file.sizeBytes, blockBytes);
}

/** What `qemu-img map` says of a raw file (its manual, “map”). Throws `internal` where that is not the whole of the file. */
export function toParts(map: string, sizeBytes: number, blockBytes: number): Part[] {
  const parts: { start: number; end: number }[] = [];
  let reached = 0;
  for (const { start, length, zero } of parseMap(map)) {
    if (start !== reached) throw unknownMap();
    reached = start + length;
    if (zero) continue;
    const begin = start - (start % blockBytes);
    const end = Math.min(sizeBytes, Math.ceil(reached / blockBytes) * blockBytes);
    const last = parts.at(-1);
    if (last && begin <= last.end) last.end = Math.max(last.end, end);
    else parts.push({ start: begin, end });
  }
  // It counts in sectors.
  if (reached < sizeBytes || reached - sizeBytes >= sectorBytes) throw unknownMap();
  return parts;
}

const sectorBytes = 512;

const mapped = z.array(
  z.object({
    start: z.int().check(z.nonnegative()),
    length: z.int().check(z.positive()),
    /** True also where there is a hole. */
    zero: z.boolean(),
  }),
);

function parseMap(text: string): z.infer<typeof mapped> {
  try {
    return mapped.parse(JSON.parse(text));
  } catch {
    throw unknownMap();
  }
}

function unknownMap(): UserError {
  return new UserError('internal', 'qemu-img did not say where the image holds something');
}
