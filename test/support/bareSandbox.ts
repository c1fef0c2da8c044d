import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readEnvironment } from '../../remote-agent/src/environment.ts';
import {
  openBubblewrap,
  type SandboxPlace,
  type SandboxRequest,
} from '../../remote-agent/src/isolation/bubblewrapSandboxes.ts';
import { initScript } from '../../remote-agent/src/isolation/initScript.ts';
import { createPlace } from '../../remote-agent/src/isolation/place.ts';
import type { ProgramEnd } from '../../remote-agent/src/isolation/sandbox.ts';
import { standbyRequest } from '../../remote-agent/src/jobRequest.ts';
import { createRunnerFolder, rootScratch } from '../../remote-agent/src/runnerFolder.ts';

export interface BareRun {
  readonly output: string;
  readonly errors: string;
  readonly end: ProgramEnd;
}

/** Runs one program in a real sandbox, without a runner around it. `change` takes protections away, for controls. */
export async function runBare(
  argv: readonly [string, ...string[]],
  request: Partial<SandboxRequest> = {},
  change: (place: SandboxPlace) => SandboxPlace = (place) => place,
): Promise<BareRun> {
  const isRoot = process.getuid?.() === 0;
  const scratch = mkdtempSync(path.join(isRoot ? rootScratch : tmpdir(), 'sallyport-bare-'));
  if (isRoot) chmodSync(scratch, 0o711);
  try {
    const environment = readEnvironment();
    const folder = createRunnerFolder({ scratch, pid: process.pid, passable: isRoot });
    const place = change(createPlace({ environment, folder, helpers: {} }));
    const { sandbox } = await openBubblewrap(
      place,
      { ...standbyRequest(), ...request },
      folder.nextJobFolder(),
    );
    let [output, errors] = ['', ''];
    sandbox.output.setEncoding('utf8').on('data', (text: string) => (output += text));
    sandbox.errors.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const closed = [sandbox.output, sandbox.errors].map(
      (stream) => new Promise((resolve) => stream.once('close', resolve)),
    );
    const limits = { processes: undefined, dataBytes: undefined, fileBytes: undefined, openFiles: 256 };
    sandbox.start(initScript({ argv, environment: {}, limits }));
    const end = await sandbox.ended;
    await sandbox.end();
    await Promise.all(closed);
    return { output, errors, end };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
