import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { JobResult } from '../../../protocol/src/runner.ts';
import { readEnvironment } from '../../../remote-agent/src/environment.ts';
import { createPlace } from '../../../remote-agent/src/isolation/place.ts';
import { probeBubblewrap } from '../../../remote-agent/src/isolation/probe.ts';
import { probeHere } from '../../../remote-agent/src/isolation/probeHere.ts';
import { Runner, type RunnerOptions } from '../../../remote-agent/src/runner.ts';
import { putTree } from '../../support/blobs.ts';
import { jobWith } from '../../support/jobs.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

describe('a runner without isolation', () => {
  const folder = useTemporaryFolder();
  const environment = readEnvironment();
  const never = new AbortController().signal;
  const nothing = () => {
    throw new Error('Something of a card ran');
  };

  async function start(probe: RunnerOptions['probe']): Promise<Runner> {
    for (const name of ['blobs', 'scratch']) mkdirSync(path.join(folder(), name), { recursive: true });
    const runner = new Runner({
      version: '0',
      environment,
      flow: { isCongested: false, whenClear: () => Promise.resolve() },
      now: () => performance.now(),
      events: { started: nothing, log: nothing, progress: nothing, egress: nothing },
      probe,
      openCgroup: () => undefined,
      onProblem: () => undefined,
    });
    const [blobs, scratch] = [path.join(folder(), 'blobs'), path.join(folder(), 'scratch')];
    await runner.handlers['runner/hello']({ protocol: 1, blobs, scratch, maxJobs: 1 }, never);
    return runner;
  }

  /** The card leaves a mark outside if it runs at all. */
  async function runMarker(runner: Runner): Promise<JobResult> {
    const mark = path.join(folder(), 'ran');
    const code = await putTree(path.join(folder(), 'blobs'), { 'main.sh': `touch '${mark}'\n` });
    chmodSync(folder(), 0o777);
    const result = await runner.handlers['job/run'](jobWith({ code }), never);
    assert.equal(existsSync(mark), false);
    return result;
  }

  it('[JOB-03] refuses every job with the reason and the remedy, and runs nothing', async () => {
    const program = path.join(folder(), 'bwrap');
    // The worst one: it claims to be bubblewrap and runs the command as it is.
    writeFileSync(
      program,
      '#!/bin/sh\ntest "$1" = --version && echo bubblewrap 0.9.0 && exit\nexec /bin/sh -s\n',
    );
    chmodSync(program, 0o755);
    const runner = await start((runnerFolder) =>
      probeBubblewrap({
        place: createPlace({ environment, folder: runnerFolder, helpers: {}, program }),
        folder: runnerFolder.nextJobFolder(),
        hasFile: environment.hasFile,
      }),
    );
    try {
      const { outcome, isolation } = await runMarker(runner);
      assert.ok(outcome.kind === 'refused' && outcome.code === 'isolation-missing');
      assert.ok(outcome.remedy);
      assert.equal(isolation, 'none');
    } finally {
      await runner.dispose();
    }
  });

  it('[JOB-03] refuses a job where the sandbox no longer starts after a good probe', async () => {
    const runner = await start(async (runnerFolder) => ({
      isolation: {
        kind: 'bubblewrap',
        open: () => Promise.reject(new Error(`gone from ${runnerFolder.path}`)),
      },
      report: { kind: 'bubblewrap', version: '0', checks: [] },
    }));
    try {
      const { outcome } = await runMarker(runner);
      assert.ok(outcome.kind === 'refused' && outcome.code === 'isolation-missing', JSON.stringify(outcome));
      assert.match(outcome.detail, /gone from/);
    } finally {
      await runner.dispose();
    }
  });

  it('[JOB-03] finds none on a platform or a processor that it does not know', async () => {
    for (const odd of [
      { ...environment, platform: 'win32' as const },
      { ...environment, platform: 'linux' as const, architecture: 'riscv64' },
      { ...environment, platform: 'linux' as const, uid: 0, uidMap: '0 0 1' },
    ]) {
      const runner = await start((runnerFolder, interpreters) => probeHere(odd, runnerFolder, interpreters));
      try {
        const { outcome } = await runMarker(runner);
        assert.ok(outcome.kind === 'refused' && outcome.code === 'isolation-missing');
        assert.match(outcome.remedy ?? '', /“js”|ordinary user/);
      } finally {
        await runner.dispose();
      }
    }
  });
});
