import { join } from 'node:path';
import type { ArtifactRef } from '../../protocol/src/artifacts.ts';
import { jobWith } from './jobs.ts';
import { Heard, openPlace, quickTimes } from './remotePlace.ts';
import { sshParts } from './sshPlace.ts';

/**
 * Runs one card over SSH in a process of its own, to be stopped and woken. Prints `log N` for each line that it hears,
 * and at its end what became of the card as one line of JSON.
 */
const [, , folder = '', known = '', config = '', code = '', program = ''] = process.argv;
const parts = sshParts({ folder: join(folder, 'sleeper'), config, known, program });
const place = openPlace(parts.transport('lab'), join(folder, 'blobs'), { times: quickTimes });
class Telling extends Heard {
  override log(stream: 'stdout' | 'stderr', text: string): void {
    super.log(stream, text);
    for (const line of text.trim().split('\n')) process.stdout.write(`log ${line}\n`);
  }
}
const heard = new Telling();
const job = jobWith({ jobId: 'sleeper', code: JSON.parse(code) as ArtifactRef });
const { outcome } = await place.runner.run(job, heard, new AbortController().signal);
process.stdout.write(`${JSON.stringify({ outcome, lines: heard.stdout, starts: heard.starts })}\n`);
await place.runner.dispose();
process.exit(0);
