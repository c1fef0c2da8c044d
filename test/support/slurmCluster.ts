import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, totalmem, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './freePort.ts';
import { until } from './until.ts';

const execute = promisify(execFile);

export const hasSlurm = [
  '/usr/sbin/slurmctld',
  '/usr/sbin/slurmd',
  '/usr/sbin/munged',
  '/usr/bin/sbatch',
].every(existsSync);

export interface SlurmClusterOptions {
  /** A folder of the test's own, made where it is missing. */
  readonly folder: string;
  /** Lines of slurm.conf beside those that every test has. */
  readonly settings?: readonly string[];
  /** More words for the one node, such as its memory. */
  readonly node?: string;
  /** Tasks that the node takes at once, whatever it really has; 2 where nothing is said. */
  readonly processors?: number;
  /** What slurmd is started with in place of the test's own surroundings: a PATH, a TMPDIR. */
  readonly nodeEnvironment?: Readonly<Record<string, string>>;
}

type Daemon = 'munged' | 'slurmctld' | 'slurmd';

/** A real cluster of one node on loopback, with its own configuration, key, ports and folders; ended by process id. */
export class SlurmCluster {
  readonly folder: string;
  readonly #options: SlurmClusterOptions;
  readonly #running = new Map<Daemon, ChildProcess>();

  constructor(options: SlurmClusterOptions) {
    this.#options = options;
    this.folder = options.folder;
  }

  get configuration(): string {
    return join(this.folder, 'slurm.conf');
  }

  /** What Slurm's programs need to find this cluster. */
  get environment(): Record<string, string> {
    return { SLURM_CONF: this.configuration };
  }

  async start(): Promise<void> {
    for (const name of ['state', 'spool', 'munge'])
      mkdirSync(join(this.folder, name), { recursive: true, mode: 0o755 });
    writeFileSync(join(this.folder, 'munge.key'), randomBytes(128), { mode: 0o600 });
    writeFileSync(this.configuration, await this.#slurmConf());
    await this.#startMunge();
    await this.startController();
    await this.startNode();
    await this.isIdle();
  }

  /** Waits until the node can take jobs and has none. */
  async isIdle(): Promise<void> {
    await until(async () => /\bidle\b/.test(await this.run('sinfo', '--noheader', '--format=%T')));
  }

  /** With `forget` it remembers no job of before. */
  async startController({ forget = false } = {}): Promise<void> {
    const { child } = this.#spawn('slurmctld', ['-D', '-f', this.configuration, ...(forget ? ['-c'] : [])]);
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`slurmctld ended: ${this.log('slurmctld')}`);
      return (await this.run('scontrol', 'ping')).includes('UP');
    });
  }

  async startNode(): Promise<void> {
    const own = { PATH: '/usr/local/bin:/usr/bin:/bin', ...this.#options.nodeEnvironment };
    this.#spawn('slurmd', ['-D', '-f', this.configuration], { ...own, ...this.environment });
    await until(() => this.#running.get('slurmd')?.exitCode === null);
  }

  /** Ends a daemon and waits until it is gone. */
  async stop(name: Daemon, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#running.get(name);
    this.#running.delete(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  /** Ends every job, the daemons, and removes the folder. */
  async remove(): Promise<void> {
    await this.run('scancel', `--user=${userInfo().username}`).catch(() => undefined);
    await until(async () => (await this.run('squeue', '--noheader')).trim() === '', 20_000).catch(
      () => undefined,
    );
    for (const name of ['slurmd', 'slurmctld', 'munged'] as const) await this.stop(name, 'SIGTERM');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Runs one of Slurm's programs against this cluster; its standard output. Says nothing where it fails. */
  async run(program: string, ...words: readonly string[]): Promise<string> {
    const env = { ...process.env, ...this.environment };
    try {
      return (await execute(program, words, { env, timeout: 60_000 })).stdout;
    } catch (error) {
      return (error as { stdout?: string }).stdout ?? '';
    }
  }

  /** Every job that the controller knows: id and array index, name, state. */
  async jobs(): Promise<{ id: string; name: string; state: string }[]> {
    const text = await this.run('squeue', '--noheader', '--array', '--states=all', '--format=%F_%K|%j|%T');
    return text
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [id = '', name = '', state = ''] = line.split('|');
        return { id, name, state };
      });
  }

  log(name: Daemon): string {
    try {
      return readFileSync(join(this.folder, `${name}.log`), 'utf8').slice(-4000);
    } catch {
      return '';
    }
  }

  async #startMunge(): Promise<void> {
    const at = (name: string) => join(this.folder, 'munge', name);
    const words = ['--foreground', '--force', `--key-file=${join(this.folder, 'munge.key')}`];
    const files = [`--socket=${at('socket')}`, `--pid-file=${at('pid')}`, `--log-file=${at('log')}`];
    const { child } = this.#spawn('munged', [...words, ...files, `--seed-file=${at('seed')}`]);
    await until(() => {
      if (child.exitCode !== null) throw new Error(`munged ended: ${readFileSync(at('log'), 'utf8')}`);
      return existsSync(at('socket'));
    });
  }

  #spawn(
    name: Daemon,
    words: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): { child: ChildProcess } {
    const child = spawn(`/usr/sbin/${name}`, words, {
      stdio: 'ignore',
      env: env ?? { ...process.env, ...this.environment },
    });
    this.#running.set(name, child);
    return { child };
  }

  async #slurmConf(): Promise<string> {
    const { settings = [], node = '', processors = 2 } = this.#options;
    const user = userInfo().username;
    const [name = 'localhost'] = hostname().split('.');
    const at = (file: string) => join(this.folder, file);
    const [controllerPort, nodePort] = [await freePort(), await freePort()];
    return [
      'ClusterName=tests',
      `SlurmctldHost=${name}(127.0.0.1)`,
      `SlurmctldPort=${controllerPort}`,
      `SlurmdPort=${nodePort}`,
      `SlurmUser=${user}`,
      `SlurmdUser=${user}`,
      'AuthType=auth/munge',
      `AuthInfo=socket=${join(this.folder, 'munge', 'socket')}`,
      `StateSaveLocation=${at('state')}`,
      `SlurmdSpoolDir=${at('spool')}`,
      `SlurmctldPidFile=${at('slurmctld.pid')}`,
      `SlurmdPidFile=${at('slurmd.pid')}`,
      `SlurmctldLogFile=${at('slurmctld.log')}`,
      `SlurmdLogFile=${at('slurmd.log')}`,
      'ProctrackType=proctrack/linuxproc',
      'TaskPlugin=task/none',
      'SelectType=select/cons_tres',
      'SelectTypeParameters=CR_Core',
      'SchedulerType=sched/backfill',
      'SchedulerParameters=sched_min_interval=1,batch_sched_delay=0',
      'JobAcctGatherType=jobacct_gather/none',
      'AccountingStorageType=accounting_storage/none',
      'JobCompType=jobcomp/none',
      'MpiDefault=none',
      'ReturnToService=2',
      'SwitchType=switch/none',
      'MessageTimeout=2',
      'KillWait=5',
      'SlurmdParameters=config_overrides',
      ...settings,
      `NodeName=${name} NodeAddr=127.0.0.1 CPUs=${processors} RealMemory=${Math.floor(totalmem() / 2 ** 21)} ${node} State=UNKNOWN`,
      `PartitionName=main Nodes=${name} Default=YES MaxTime=INFINITE State=UP`,
      '',
    ].join('\n');
  }
}
