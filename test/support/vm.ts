import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { PlaceRunner } from '../../language-server/src/runners/places/placeRunner.ts';
import { buildVm } from '../../language-server/src/runners/vm/buildVm.ts';
import { openVmPlace } from '../../language-server/src/runners/vm/openVmPlace.ts';
import { openVmFolder } from '../../language-server/src/runners/vm/vmFolder.ts';
import { contentDigest, readImage } from '../../language-server/src/runners/vm/vmImage.ts';
import type { VmPlace } from '../../language-server/src/runners/vm/vmPlace.ts';
import { createBlobStore, type BlobStore } from '../../remote-agent/src/files/blobStore.ts';
import { createRemoteRunner } from '../../language-server/src/runners/places/remoteRunner.ts';
import { jobsUnder } from '../../language-server/src/runners/places/remoteJobs.ts';
import { quickTimes, RememberedJobs } from './remotePlace.ts';
import { until } from './until.ts';
import { qemusOf } from './vmProcesses.ts';

/** Why no VM can be built here; undefined where one can. */
export function vmFault(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'VMs are built on Linux x64';
  const missing = [
    '/usr/bin/apt-get',
    '/usr/bin/qemu-system-x86_64',
    '/usr/bin/qemu-img',
    '/usr/bin/bwrap',
  ].filter((path) => !existsSync(path));
  return missing.length > 0 ? `${missing.join(', ')} missing` : undefined;
}

/**
 * A home with an image of this runner: kept among what tests keep, and built anew only where the runner is another one.
 * No VM of an earlier test that failed is left in it.
 */
export async function builtVmHome(
  runner: string,
  onStep: (text: string) => void = () => undefined,
): Promise<string> {
  const cache = join(homedir(), '.cache', 'sallyport-test', 'vm');
  mkdirSync(cache, { recursive: true });
  const { image } = openVmFolder(cache);
  if (readImage(image)?.runnerDigest !== contentDigest(runner)) {
    await buildVm({
      home: cache,
      runner,
      now: () => Date.now(),
      signal: new AbortController().signal,
      onStep,
      onProblem: onStep,
    });
  }
  for (const pid of qemusOf(openVmFolder(cache).machines)) process.kill(pid, 'SIGKILL');
  await until(() => qemusOf(openVmFolder(cache).machines).length === 0);
  return cache;
}

export interface TestVms {
  readonly place: VmPlace;
  readonly blobs: BlobStore;
  readonly jobs: RememberedJobs;
  readonly problems: string[];
}

/** The place `vm` of an engine of tests. */
export function openTestVms(
  home: string,
  runner: string,
  blobsFolder: string,
  jobs = new RememberedJobs(),
): TestVms {
  const blobs = createBlobStore(blobsFolder);
  const problems: string[] = [];
  const onProblem = (problem: string) => void problems.push(problem);
  const place = openVmPlace({
    home,
    runner,
    now: () => Date.now(),
    onProblem,
    remote: (transport, key): PlaceRunner =>
      createRemoteRunner({
        transport,
        blobs,
        engine: 'engine-of-tests',
        jobs: jobsUnder(key, jobs),
        release: () => Promise.resolve([]),
        // A VM on translated instructions may not answer for a while and is there all the same.
        times: { ...quickTimes, heartbeatMs: 5_000 },
        now: () => performance.now(),
        setTimer: (run, ms) => {
          const timer = setTimeout(run, ms);
          return () => clearTimeout(timer);
        },
        onChange: () => undefined,
        onProblem,
      }),
  });
  return { place, blobs, jobs, problems };
}
