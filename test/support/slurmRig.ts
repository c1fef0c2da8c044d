import {
  chmodSync,
  existsSync,
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
}

/** Another engine at the cluster. */
export interface RigPlace {
  readonly jobs?: RememberedJobs;
  readonly engine?: string;
  readonly blobs?: string;
  readonly release?: ReleaseStarted;
}

/** A cluster of one node whose login node is an sshd, both real and on loopback. */
export class SlurmRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'sallyport-slurm-'));
  readonly cluster: SlurmCluster;
  readonly host: SshHost;
  readonly #places: TestPlace[] = [];

  constructor({ settings = [], login = {}, host = [], trusts }: SlurmRigOptions = {}) {
    this.cluster = new SlurmCluster({ folder: join(this.folder, 'cluster'), settings });
    const authority = join(this.folder, 'authority.pem');
    const home = join(this.folder, 'login', 'home');
    const tools = join(this.folder, 'tools');
    mkdirSync(tools);
    if (trusts !== undefined) {
      writeFileSync(authority, trusts);
      // An earlier Node reads the system's authorities alone.
      symlinkSync(process.execPath, join(tools, 'node'));
    }
    writeFileSync(join(tools, 'sbatch'), heldSbatch(this.held, trusts === undefined ? undefined : authority));
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

  /** Another engine; with the jobs of an earlier one, the same home after its end. */
  open({ blobs, ...more }: RigPlace = {}): TestPlace {
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
    });
    const place = openPlace(transport, blobs ?? join(this.folder, 'blobs'), more);
    this.#places.push(place);
    return place;
  }

  /** Processes of the runner's `batch control` over there. */
  helpers(): number[] {
    return readdirSync('/proc').flatMap((name) => {
      const path = `/proc/${name}/cmdline`;
      if (!/^[0-9]+$/.test(name) || !existsSync(path)) return [];
      try {
        const command = readFileSync(path, 'utf8').replaceAll('\0', ' ');
        return command.includes(' batch control ') && command.includes(this.folder) ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
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

/** The real sbatch, which is silent while a file is there, and names an authority to the script on the node. */
function heldSbatch(held: string, authority: string | undefined): string {
  const script = authority === undefined ? 'cat' : `sed '1a export NODE_EXTRA_CA_CERTS=${authority}'`;
  return `#!/bin/sh
said=$(${script} | /usr/bin/sbatch "$@")
code=$?
while [ -e '${held}' ]; do sleep 0.05; done
printf '%s\\n' "$said"
exit $code
`;
}
