import type { RunnerTransport } from '../places/runnerTransport.ts';
import { openSshSessions, type OpenSshTransportOptions } from '../ssh/openSshTransport.ts';
import { createSlurmTransport } from './slurmTransport.ts';

/** The way to a cluster over its login node, behind one import that is made when it is first connected to. */
export function openSlurmTransport(options: OpenSshTransportOptions): RunnerTransport {
  const { place, host, program } = options;
  return createSlurmTransport({ place, host, sessions: openSshSessions(options), program });
}
