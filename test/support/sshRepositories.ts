import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { makeKey, SshHost } from './sshHost.ts';
import { until } from './until.ts';

/** A real sshd that serves the bare repositories of `makeRepository(folder, …)`, and a person's side of it. */
export interface SshRepositories {
  readonly host: SshHost;
  /** `ssh://user@127.0.0.1:PORT/FOLDER/repositories`. */
  readonly base: string;
  /** What git is started with: `ssh` is a program of the test that reads the test's files in place of the person's. */
  readonly environment: Readonly<Record<string, string>>;
  /** The lines of known_hosts. */
  know(lines: string): void;
  /** The environment of the last session on the server. */
  sessionEnvironment(): string;
  /** Whether the ssh that git started is running. */
  clients(): number[];
  close(): Promise<void>;
}

export interface SshRepositoriesOptions {
  readonly folder: string;
  /** What the server runs, in its shell, in place of what it is asked for. */
  readonly command?: string;
}

export async function openSshRepositories(options: SshRepositoriesOptions): Promise<SshRepositories> {
  const { folder, command = 'exec git-shell -c "$SSH_ORIGINAL_COMMAND"' } = options;
  const sessions = join(folder, 'session-environment');
  const host = new SshHost({
    folder: join(folder, 'host'),
    settings: ['AllowAgentForwarding yes', `ForceCommand env > ${sessions}; ${command}`],
  });
  await host.start();
  const agent = await startAgent(join(folder, 'agent.sock'), host.userKey);
  const known = join(folder, 'known_hosts');
  const config = join(folder, 'ssh_config');
  writeFileSync(known, host.knownLine());
  writeFileSync(
    config,
    `UserKnownHostsFile ${known}\nGlobalKnownHostsFile /dev/null\nIdentityFile none\nForwardAgent yes\nStrictHostKeyChecking accept-new\n`,
  );
  const programs = join(folder, 'programs');
  const pids = join(folder, 'client-pids');
  mkdirSync(programs);
  writeFileSync(
    join(programs, 'ssh'),
    `#!/bin/sh\necho $$ >> ${pids}\nexec /usr/bin/ssh -F ${config} "$@"\n`,
  );
  chmodSync(join(programs, 'ssh'), 0o755);
  return {
    host,
    base: `ssh://${userInfo().username}@127.0.0.1:${host.port}${folder}/repositories`,
    environment: {
      PATH: `${programs}:${process.env['PATH'] ?? ''}`,
      SSH_AUTH_SOCK: join(folder, 'agent.sock'),
    },
    know: (lines) => writeFileSync(known, lines),
    sessionEnvironment: () => (existsSync(sessions) ? readFileSync(sessions, 'utf8') : ''),
    clients: () =>
      (existsSync(pids) ? readFileSync(pids, 'utf8') : '')
        .split('\n')
        .filter((pid) => pid !== '' && existsSync(`/proc/${pid}`))
        .map(Number),
    close: async () => {
      agent.kill('SIGKILL');
      await host.stop();
    },
  };
}

async function startAgent(socket: string, key: string): Promise<ChildProcess> {
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  await until(() => existsSync(socket));
  await makeKey(key, 'ed25519');
  execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' });
  return agent;
}
