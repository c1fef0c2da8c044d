import type { RunnerTransport } from '../places/runnerTransport.ts';
import type { SshSurroundings } from './sshConfig.ts';
import type { SshPerson } from './sshPerson.ts';
import { SshSessions } from './sshSessions.ts';
import { createSshTransport } from './sshTransport.ts';
import { createTrustStore } from './trustStore.ts';

export interface OpenSshTransportOptions {
  readonly place: string;
  readonly host: string;
  readonly person: SshPerson;
  /** Our own known_hosts file. */
  readonly trustFile: string;
  readonly around: SshSurroundings;
  /** The runner's file here. */
  readonly program: string;
}

/** Everything of SSH, ssh2 included, behind one import that is made when a host is first connected to. */
export function openSshTransport(options: OpenSshTransportOptions): RunnerTransport {
  const { place, host, program } = options;
  return createSshTransport({ place, host, sessions: openSshSessions(options), program });
}

/** Connections as this person makes them, for whatever is at their end. */
export function openSshSessions({
  person,
  trustFile,
  around,
}: Pick<OpenSshTransportOptions, 'person' | 'trustFile' | 'around'>): SshSessions {
  return new SshSessions({ around, trust: createTrustStore(trustFile), person });
}
