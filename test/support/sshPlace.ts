import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SshPerson } from '../../language-server/src/runners/ssh/sshPerson.ts';
import type { SshSigner } from '../../language-server/src/runners/ssh/sshPerson.ts';
import type { SshSurroundings } from '../../language-server/src/runners/ssh/sshConfig.ts';
import { SshSessions, type SshTimes } from '../../language-server/src/runners/ssh/sshSessions.ts';
import { createSshTransport } from '../../language-server/src/runners/ssh/sshTransport.ts';
import { createTrustStore } from '../../language-server/src/runners/ssh/trustStore.ts';
import type { RunnerTransport } from '../../language-server/src/runners/places/runnerTransport.ts';
import { bundledRunner } from './bundledRunner.ts';

/** What a test's person is asked, and what they answer. */
export class FakePerson implements SshPerson {
  accepts = false;
  readonly confirmed: Parameters<SshPerson['confirmHostKey']>[0][] = [];
  readonly changed: Parameters<SshPerson['showChangedHostKey']>[0][] = [];
  readonly secrets: Parameters<SshPerson['askSecret']>[0][] = [];
  answers: (readonly string[] | null)[] = [];
  signers: readonly SshSigner[] = [];

  vaultKeys(): Promise<readonly SshSigner[]> {
    return Promise.resolve(this.signers);
  }

  confirmHostKey(question: Parameters<SshPerson['confirmHostKey']>[0]): Promise<boolean> {
    this.confirmed.push(question);
    return Promise.resolve(this.accepts);
  }
  showChangedHostKey(change: Parameters<SshPerson['showChangedHostKey']>[0]): Promise<void> {
    this.changed.push(change);
    return Promise.resolve();
  }
  askSecret(question: Parameters<SshPerson['askSecret']>[0]): Promise<readonly string[] | null> {
    this.secrets.push(question);
    return Promise.resolve(this.answers.shift() ?? null);
  }
}

export interface SshSetup {
  readonly folder: string;
  /** Text of the person's SSH configuration. */
  readonly config: string;
  /** Text of the person's known_hosts; absent for no such file. */
  readonly known?: string | undefined;
  readonly person?: FakePerson;
  readonly agent?: string;
  readonly signers?: readonly SshSigner[];
  readonly times?: SshTimes;
  /** The runner's file; absent means one that is built now. */
  readonly program?: string;
}

export interface SshParts {
  readonly sessions: SshSessions;
  readonly person: FakePerson;
  readonly transport: (host: string) => RunnerTransport;
  readonly knownHosts: string;
  readonly ownKnownHosts: string;
}

/** A configuration and files of the test's own in place of the person's. */
export function sshAround(setup: Pick<SshSetup, 'folder' | 'config' | 'known' | 'agent'>): {
  readonly around: SshSurroundings;
  readonly knownHosts: string;
  readonly ownKnownHosts: string;
} {
  mkdirSync(setup.folder, { recursive: true });
  const config = join(setup.folder, 'config');
  const knownHosts = join(setup.folder, 'known_hosts');
  const ownKnownHosts = join(setup.folder, 'own_known_hosts');
  writeFileSync(
    config,
    `${setup.config}\nHost *\n  UserKnownHostsFile ${knownHosts}\n  GlobalKnownHostsFile none\n`,
  );
  if (setup.known !== undefined) writeFileSync(knownHosts, setup.known);
  const around: SshSurroundings = {
    home: setup.folder,
    agent: setup.agent,
    runSsh: (words) =>
      new Promise((resolve, reject) => {
        execFile('ssh', ['-F', config, ...words], (error, stdout, stderr) =>
          error ? reject(new Error(stderr)) : resolve(stdout),
        );
      }),
  };
  return { around, knownHosts, ownKnownHosts };
}

/** Everything of SSH with a configuration and files of the test's own. */
export function sshParts(setup: SshSetup): SshParts {
  const { around, knownHosts, ownKnownHosts } = sshAround(setup);
  const person = setup.person ?? new FakePerson();
  if (setup.signers) person.signers = setup.signers;
  const sessions = new SshSessions({
    around,
    trust: createTrustStore(ownKnownHosts),
    person,
    ...(setup.times ? { times: setup.times } : {}),
  });
  const transport = (host: string) =>
    createSshTransport({ place: `ssh:${host}`, host, sessions, program: setup.program ?? bundledRunner() });
  return { sessions, person, transport, knownHosts, ownKnownHosts };
}

export const hasSshd = existsSync('/usr/sbin/sshd');
