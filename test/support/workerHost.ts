import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  enrolAtWorker,
  type PinnedWorker,
} from '../../language-server/src/runners/worker/workerTransport.ts';
import { parseInvitation } from '../../remote-agent/src/worker/invitation.ts';
import type { IdentitySigner } from '../../remote-agent/src/worker/leaf.ts';
import { folderNameOf, fingerprintOf } from '../../remote-agent/src/worker/identity.ts';
import { bundledRunner } from './bundledRunner.ts';
import { until } from './until.ts';

const run = promisify(execFile);

/** What the worker writes into its log: one object for each line. */
export type AuditEntry = Readonly<Record<string, string | number>> & { readonly event: string };

/** Every line of the log of the worker that is kept in `home`, share by share. Throws where one is no JSON. */
export function auditOf(home: string): AuditEntry[] {
  const shares = join(home, 'audit');
  const paths = [join(home, 'audit.log'), ...readdirSync(shares).map((name) => join(shares, name))];
  return paths
    .filter((path) => path.endsWith('.log') && existsSync(path))
    .flatMap((path) => {
      const lines = readFileSync(path, 'utf8').split('\n');
      if (lines.pop() !== '') throw new Error(`The last line of ${path} is not whole`);
      return lines.map((line) => JSON.parse(line) as AuditEntry);
    });
}

/** A real worker, kept by its own commands: a process on loopback, and a runner for each of its members. */
export class WorkerHost {
  readonly home: string;
  child: ChildProcess | undefined;
  port = 0;
  said = '';

  constructor(folder: string) {
    this.home = join(folder, 'worker');
    mkdirSync(folder, { recursive: true });
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  /** Starts it on the port that it had before; a free one at first. */
  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const words = ['worker', 'serve', '--listen', `127.0.0.1:${this.port}`, '--home', this.home];
    const child = spawn(process.execPath, [bundledRunner(), ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    this.child = child;
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`The worker ended: ${this.said}`);
      this.port = Number(/listens at 127\.0\.0\.1:([0-9]+)$/m.exec(out)?.[1] ?? this.port);
      return out.includes('listens at');
    });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  /** One of the keeper's commands; its standard output. */
  async keep(...words: readonly string[]): Promise<string> {
    const all = [bundledRunner(), 'worker', ...words, '--home', this.home];
    return (await run(process.execPath, all)).stdout.trim();
  }

  /** Enrols as a person does: with an invitation that the keeper prints. */
  async enrol(signer: IdentitySigner, name: string): Promise<PinnedWorker> {
    const invitation = parseInvitation(await this.keep('invite', '--address', `127.0.0.1:${this.port}`));
    if (!invitation) throw new Error('The keeper printed no invitation');
    return enrolAtWorker(invitation, name, signer, () => Date.now());
  }

  /** What the runner of a member serves. */
  homeOf(signer: IdentitySigner): string {
    return join(this.home, 'members', folderNameOf(fingerprintOf(signer.spki)));
  }

  /** Every line of the log, share by share. Throws where one is no JSON. */
  audit(): AuditEntry[] {
    return auditOf(this.home);
  }

  /** The runners of the members, or of one. */
  runnerPids(signer?: IdentitySigner): number[] {
    const folder = signer ? this.homeOf(signer) : join(this.home, 'members');
    return readdirSync('/proc').flatMap((name) => {
      const words = /^[0-9]+$/.test(name) ? commandOf(name) : [];
      return words.includes('serve') && words.some((word) => word.startsWith(folder)) ? [Number(name)] : [];
    });
  }

  /** Ends the worker and its runners, and removes its folder. */
  async remove(): Promise<void> {
    await this.stop();
    for (const pid of this.runnerPids()) process.kill(pid, 'SIGTERM');
    await until(() => this.runnerPids().length === 0);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function commandOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
