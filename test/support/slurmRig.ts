import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SlurmChoice } from '../../protocol/src/slurmChoice.ts';
import type { RemoteTimes } from '../../language-server/src/runners/places/remoteRunner.ts';
import type { ReleaseStarted } from '../../language-server/src/runners/places/valueRelease.ts';
import { createSlurmTransport } from '../../language-server/src/runners/slurm/slurmTransport.ts';
import { bundledRunner } from './bundledRunner.ts';
import { openPlace, type RememberedJobs, type TestPlace } from './remotePlace.ts';
import { SlurmCluster } from './slurmCluster.ts';
import { removeHost, SshHost } from './sshHost.ts';
import { sshParts } from './sshPlace.ts';
import { until } from './until.ts';

export interface SlurmRigOptions {
  /** Lines of slurm.conf. */
  readonly settings?: readonly string[];
  /** Variables of every shell on the login node, by name; `$HOME` stands for its home folder. */
  readonly login?: Readonly<Record<string, string>>;
  /** Lines of sshd_config. */
  readonly host?: readonly string[];
  /** Another authority, as PEM, that the runner on the node trusts. */
  readonly trusts?: string;
  /** As of the cluster. */
  readonly processors?: number;
}

/** Another engine at the cluster. */
export interface RigPlace {
  readonly jobs?: RememberedJobs;
  readonly engine?: string;
  readonly blobs?: string;
  readonly release?: ReleaseStarted;
  /** Short ones where nothing is said. */
  readonly times?: RemoteTimes;
  /** What the person's settings say of the cluster. */
  readonly choice?: SlurmChoice;
}

/** A cluster of one node whose login node is an sshd, both real and on loopback. */
export class SlurmRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'sallyport-slurm-'));
  readonly cluster: SlurmCluster;
  readonly host: SshHost;
  readonly #places: TestPlace[] = [];

  constructor({ settings = [], login = {}, host = [], trusts, processors = 2 }: SlurmRigOptions = {}) {
    this.cluster = new SlurmCluster({ folder: join(this.folder, 'cluster'), settings, processors });
    const authority = join(this.folder, 'authority.pem');
    const home = join(this.folder, 'login', 'home');
    const tools = join(this.folder, 'tools');
    mkdirSync(tools);
    if (trusts !== undefined) {
      writeFileSync(authority, trusts);
      // An earlier Node reads the system's authorities alone.
      symlinkSync(process.execPath, join(tools, 'node'));
    }
    writeFileSync(
      join(tools, 'sbatch'),
      heldSbatch(this.folder, this, trusts === undefined ? undefined : authority),
    );
    chmodSync(join(tools, 'sbatch'), 0o755);
    const variables = {
      HOME: home,
      PATH: `${tools}:/usr/local/bin:/usr/bin:/bin`,
      ...this.cluster.environment,
      ...login,
    };
    const words = Object.entries(variables).map(
      ([name, value]) => `"${name}=${value.replaceAll('"', '\\"')}"`,
    );
    this.host = new SshHost({
      folder: join(this.folder, 'login'),
      settings: [`SetEnv ${words.join(' ')}`, ...host],
    });
  }

  async start(): Promise<void> {
    await this.cluster.start();
    await this.host.start();
  }

  /** While this file is there, `sbatch` hands jobs over and does not say so. */
  get held(): string {
    return join(this.folder, 'hold');
  }

  /** While this file is there, `sbatch` does not hand anything over yet. */
  get heldBefore(): string {
    return join(this.folder, 'hold-before');
  }

  /** Another engine; with the jobs of an earlier one, the same home after its end. */
  open({ blobs, choice = {}, ...more }: RigPlace = {}): TestPlace {
    const parts = sshParts({
      folder: join(this.folder, 'here'),
      config: this.host.configBlock('lab'),
      known: this.host.knownLine(),
    });
    const transport = createSlurmTransport({
      place: 'slurm:lab',
      host: 'lab',
      sessions: parts.sessions,
      program: bundledRunner(),
      choice: () => Promise.resolve(choice),
    });
    const place = openPlace(transport, blobs ?? join(this.folder, 'blobs'), more);
    this.#places.push(place);
    return place;
  }

  /** Processes of the runner's `batch control` over there. */
  helpers(): number[] {
    return this.#processes(' batch control ');
  }

  /** Processes of the runner on the node. */
  tasks(): number[] {
    return this.#processes(' batch once ');
  }

  #processes(words: string): number[] {
    return readdirSync('/proc').flatMap((name) => {
      if (!/^[0-9]+$/.test(name)) return [];
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return command.includes(words) && command.includes(this.folder) ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
  }

  /** Hands the last request over once more, as it was. */
  async submitAgain(): Promise<void> {
    const words = readFileSync(join(this.folder, 'last.words'), 'utf8').trimEnd().split('\n');
    await this.cluster.run('/usr/bin/sbatch', ...words, join(this.folder, 'last.script'));
  }

  /** Ends the connection and what served it, at once and without a word. */
  async crash(): Promise<void> {
    for (const pid of this.helpers()) process.kill(pid, 'SIGKILL');
    this.host.signalSessions('SIGKILL');
    await until(() => this.helpers().length === 0);
  }

  async remove(): Promise<void> {
    for (const { runner } of this.#places) await runner.dispose();
    await removeHost(this.host);
    await this.cluster.remove();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The real sbatch, which waits before and after while a file is there, and names an authority to the script on the node. */
function heldSbatch(
  folder: string,
  { held, heldBefore }: Pick<SlurmRig, 'held' | 'heldBefore'>,
  authority: string | undefined,
): string {
  const script = authority === undefined ? 'cat' : `sed '1a export NODE_EXTRA_CA_CERTS=${authority}'`;
  return `#!/bin/sh
while [ -e '${heldBefore}' ]; do sleep 0.05; done
cd '${folder}' || exit
${script} > "$$.script"
printf '%s\\n' "$@" > "$$.words"
said=$(/usr/bin/sbatch "$@" < "$$.script")
code=$?
for kind in script words; do mv "$$.$kind" "last.$kind"; done
while [ -e '${held}' ]; do sleep 0.05; done
printf '%s\\n' "$said"
exit $code
`;
}
