import type { ArtifactRef } from '../../protocol/src/artifacts.ts';
import type { JobSpec } from '../../protocol/src/runner.ts';

const nothing: ArtifactRef = { kind: 'directory', digest: '0'.repeat(64), sizeBytes: 0, files: 0 };

/** A job that asks for nothing, with what a test cares about put in. */
export function jobWith(more: Partial<JobSpec>): JobSpec {
  return {
    jobId: 'job-1',
    cardId: 'card',
    runtime: 'shell',
    entry: 'main.sh',
    code: nothing,
    inputs: [],
    outputs: [],
    params: '{}',
    limits: { seconds: 60, memoryMB: 64, processes: 16, outputMB: 1, logMB: 1 },
    access: { network: { kind: 'none' }, hostFolders: [] },
    ...more,
  };
}
