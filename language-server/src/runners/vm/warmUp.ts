import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import { defaultCardLimits } from '../../../../protocol/src/limits.ts';
import { createBlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { captureFolder } from '../../../../remote-agent/src/files/captureTree.ts';
import type { CardJob } from '../cardRunner.ts';
import type { RemoteJobs } from '../places/remoteJobs.ts';
import { createRemoteRunner } from '../places/remoteRunner.ts';
import type { RunnerTransport } from '../places/runnerTransport.ts';

/** One card of each runtime that does nothing: what it makes the VM read stays in its memory. */
const warmCards = {
  'main.sh': { runtime: 'shell', text: 'true\n' },
  'main.py': { runtime: 'python', text: 'import json, os, sys\n' },
  'main.mjs': { runtime: 'node', text: "import 'node:fs';\n" },
} as const;

/**
 * So often the shell's card runs: by then V8 has compiled what of the runner each card takes, and the store holds that
 * code too.
 */
const shellRounds = 10;

/**
 * Runs first cards of each runtime in a VM, as any card is run: so a VM is stored only when it can do what it is for. They
 * have the usual limits, so that the sandboxes which stand by in the store fit the first card of a project.
 * Throws where one of them fails.
 */
export async function warmUp(
  transport: RunnerTransport,
  folder: string,
  signal: AbortSignal,
  onProblem: (problem: string) => void,
): Promise<void> {
  const work = mkdtempSync(join(folder, 'warm-'));
  const cards = join(work, 'card');
  const store = join(work, 'blobs');
  for (const each of [cards, store]) mkdirSync(each);
  for (const [name, { text }] of Object.entries(warmCards)) writeFileSync(join(cards, name), text);
  const blobs = createBlobStore(store);
  const runner = createRemoteRunner({
    transport,
    blobs,
    engine: 'sallyport-build',
    jobs: forgetful,
    release: () => Promise.resolve([]),
    now: () => performance.now(),
    setTimer: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    onChange: () => undefined,
    onProblem,
  });
  try {
    const code = await captureFolder(cards, blobs);
    const rounds = Array.from({ length: shellRounds - 1 }, () => ['main.sh', warmCards['main.sh']] as const);
    for (const [round, [entry, { runtime }]] of [...Object.entries(warmCards), ...rounds].entries()) {
      const job: CardJob = {
        jobId: `warm-${runtime}-${round}`,
        cardId: runtime,
        runtime,
        entry,
        code,
        inputs: [],
        outputs: [],
        params: '{}',
        limits: { ...defaultCardLimits, seconds: 120, memoryMB: 512 },
        access: { network: { kind: 'none' }, hostFolders: [] },
      };
      const { outcome } = await runner.run(job, silent, signal);
      if (signal.aborted) throw new UserError('cancelled', 'Building the VM was cancelled');
      if (outcome.kind !== 'exited' || outcome.exitCode !== 0)
        throw new UserError(
          'internal',
          `A first ${runtime} card failed in the VM: ${JSON.stringify(outcome)}`,
        );
    }
    await runner.release(undefined);
  } finally {
    await runner.dispose();
    rmSync(work, { recursive: true, force: true });
  }
}

const silent = {
  started: () => undefined,
  log: () => undefined,
  progress: () => undefined,
  egress: () => undefined,
};

/** Nothing of a warm-up is worth remembering. */
const forgetful: RemoteJobs = {
  send: () => undefined,
  cancel: () => undefined,
  remove: () => undefined,
  left: () => [],
  knows: () => false,
  awaited: () => undefined,
  takeUp: () => 'nobody',
  neverAccepted: () => undefined,
};
