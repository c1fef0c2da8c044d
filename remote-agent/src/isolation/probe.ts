import { statSync } from 'node:fs';
import type { IsolationCheck } from '../../../protocol/src/runner.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { standbyRequest } from '../jobRequest.ts';
import { removeFolder } from '../runnerFolder.ts';
import { openBubblewrap, type PreparedSandbox, type SandboxPlace } from './bubblewrapSandboxes.ts';
import { evidence } from './evidence.ts';
import { initScript } from './initScript.ts';
import type { Probed } from './isolation.ts';
import { explainStart, installRemedy, readKernelFacts, type KernelFacts } from './remedies.ts';
import { judgeProbe, probeScript } from './probeScript.ts';
import { runProgram } from '../runProgram.ts';

export interface ProbeOptions {
  readonly place: SandboxPlace;
  /** Where the probe's own sandbox gets its folder; must not exist. */
  readonly folder: string;
  readonly hasFile: (path: string) => boolean;
  readonly facts?: KernelFacts;
}

const probeTimeoutMs = 20_000;

/**
 * Finds out by running it whether a card would be sealed here: bubblewrap itself, a whole sandbox, and then, from
 * inside, everything that must fail. Any doubt is a no. Never rejects.
 */
export async function probeBubblewrap(options: ProbeOptions): Promise<Probed> {
  const { place, folder } = options;
  const version = await versionOf(place.program);
  const checks: IsolationCheck[] = [checkProgram(place.program, version)];
  if (checks.every((check) => check.ok)) {
    const started = await startProbe(options);
    checks.push(started.check);
    if (started.prepared) {
      checks.push(...(await probeInside(started.prepared, options)));
      await started.prepared.sandbox.end();
      removeFolder(folder);
    }
  }
  const holds = checks.every((check) => check.ok);
  return {
    isolation: holds
      ? { kind: 'bubblewrap', open: (request, path) => openBubblewrap(place, request, path) }
      : undefined,
    report: { kind: holds ? 'bubblewrap' : 'none', version: version ?? '', checks },
  };
}

function checkProgram(program: string, version: string | undefined): IsolationCheck {
  const check = { id: 'program', title: 'Bubblewrap is installed where nobody else can replace it' };
  const found = statSync(program, { throwIfNoEntry: false });
  if (!found) return { ...check, ok: false, detail: `${program} is not there`, remedy: installRemedy };
  const detail = `${program}, ${version === undefined ? 'which does not run' : `version ${version}`}`;
  if ((found.mode & 0o6000) !== 0) {
    const remedy = `Run: sudo chmod u-s,g-s ${program}. A bubblewrap that runs as root for everybody is a way to become root (CVE-2020-5291).`;
    return { ...check, ok: false, detail: `${detail}, is set-user-ID`, remedy };
  }
  if ((found.mode & 0o022) !== 0 || ![0, process.getuid?.()].includes(found.uid)) {
    const remedy = `Run: sudo chown root ${program} && sudo chmod 755 ${program}`;
    return { ...check, ok: false, detail: `${detail}, can be changed by others`, remedy };
  }
  return version === undefined
    ? { ...check, ok: false, detail, remedy: installRemedy }
    : { ...check, ok: true, detail };
}

async function startProbe({
  place,
  folder,
  facts = readKernelFacts(),
}: ProbeOptions): Promise<{ check: IsolationCheck; prepared?: PreparedSandbox }> {
  const check = { id: 'start', title: 'A sandbox with every namespace of its own starts' };
  try {
    const prepared = await openBubblewrap(place, standbyRequest(), folder);
    return { check: { ...check, ok: true, detail: evidence.start }, prepared };
  } catch (error) {
    const detail = errorMessage(error);
    return { check: { ...check, ok: false, detail, remedy: explainStart(detail, facts) } };
  }
}

async function probeInside({ sandbox }: PreparedSandbox, options: ProbeOptions): Promise<IsolationCheck[]> {
  let text = '';
  sandbox.output.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  sandbox.errors.resume();
  const closed = new Promise((resolve) => sandbox.output.once('close', resolve));
  const timer = setTimeout(() => void sandbox.end(), probeTimeoutMs);
  sandbox.start(
    initScript({
      argv: ['/bin/sh', '-c', probeScript(options.hasFile)],
      environment: {},
      limits: { processes: undefined, dataBytes: undefined, fileBytes: undefined, openFiles: 64 },
    }),
  );
  await sandbox.ended;
  clearTimeout(timer);
  await sandbox.end();
  await closed;
  return judgeProbe(text);
}

async function versionOf(program: string): Promise<string | undefined> {
  const text = await runProgram(program, ['--version']);
  return text === undefined ? undefined : (/[0-9]+(?:\.[0-9]+)+/.exec(text)?.[0] ?? 'unknown');
}
