import { UserError } from '../../../../protocol/src/errors.ts';
import type { LookedUp } from './knownHosts.ts';

/** One host as the person's OpenSSH would reach it. */
export interface SshTarget extends LookedUp {
  readonly user: string;
  readonly identityFiles: readonly string[];
  readonly identitiesOnly: boolean;
  /** The socket of the agent; undefined for none. */
  readonly agent: string | undefined;
  readonly knownHostsFiles: readonly string[];
}

/** The way to a host: those that it is reached through, in order, and itself last. */
export type SshRoute = readonly SshTarget[];

/** Runs `ssh` with these words and gives what it printed. Rejects with what it said on stderr. */
export type RunSsh = (words: readonly string[]) => Promise<string>;

export interface SshSurroundings {
  readonly runSsh: RunSsh;
  readonly home: string;
  /** SSH_AUTH_SOCK. */
  readonly agent: string | undefined;
}

const longestRoute = 8;
/** `host` or `user@host`. Nothing else becomes an argument of a program; nothing that begins with `-` ever does. */
const destinationPattern = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9_][A-Za-z0-9_.:-]*$/;

/**
 * Resolves a host of the person's SSH configuration with `ssh -G`, which knows `Include`, `Match` and every token, and
 * each host of its ProxyJump in turn. Throws `unreachable` never; `bad-project` for a name that is none,
 * `incompatible` for what is configured and not supported, `not-found` where there is no ssh.
 */
export async function resolveRoute(name: string, around: SshSurroundings): Promise<SshRoute> {
  return routeTo(name, around, 0);
}

async function routeTo(
  name: string,
  around: SshSurroundings,
  depth: number,
  port?: number,
): Promise<SshRoute> {
  assertDestination(name);
  if (depth >= longestRoute) throw unsupported(name, `more than ${longestRoute} hosts on the way`);
  const words = ['-G', ...(port === undefined ? [] : ['-p', String(port)]), '--', name];
  const settings = parseSettings(await askSsh(words, name, around));
  const one = (key: string) => settings.get(key)?.[0];
  const proxyCommand = one('proxycommand');
  if (proxyCommand !== undefined && proxyCommand !== 'none')
    throw unsupported(name, 'ProxyCommand', 'Use ProxyJump instead.');
  const target = toTarget(name, settings, around);
  const jump = one('proxyjump');
  if (jump === undefined || jump === 'none') return [target];
  const hops: SshTarget[] = [];
  for (const hop of jump.split(',')) {
    const { destination, port: hopPort } = parseHop(hop, name);
    // Only the first hop's own way is gone; each of the others is reached through the one before it.
    const way = await routeTo(destination, around, depth + 1, hopPort);
    hops.push(...(hops.length === 0 ? way : way.slice(-1)));
  }
  return [...hops, target];
}

/** Throws `bad-project` for what is no plain destination. */
export function assertDestination(name: string): void {
  if (destinationPattern.test(name) && name.length <= 255) return;
  throw new UserError('bad-project', `“${name.slice(0, 80)}” is no name of a host`, {
    remedy: 'Write a host of your SSH configuration: ssh:HOST, with letters, digits, “.”, “-” and “_”.',
  });
}

/** `key value` lines, as `ssh -G` prints them; a key may come several times. */
function parseSettings(text: string): Map<string, string[]> {
  const settings = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space <= 0) continue;
    const key = line.slice(0, space).toLowerCase();
    settings.set(key, [...(settings.get(key) ?? []), line.slice(space + 1).trim()]);
  }
  return settings;
}

function toTarget(name: string, settings: ReadonlyMap<string, string[]>, around: SshSurroundings): SshTarget {
  const one = (key: string) => settings.get(key)?.[0];
  const path = (written: string) => expand(written, around.home);
  const host = one('hostname') ?? '';
  const port = Number(one('port'));
  const user = one('user') ?? '';
  if (host === '' || user === '' || !Number.isInteger(port) || port < 1 || port > 65_535)
    throw unsupported(name, 'what ssh -G says of it');
  const agent = one('identityagent');
  const alias = one('hostkeyalias');
  const files = [one('userknownhostsfile'), one('globalknownhostsfile')];
  return {
    host,
    port,
    user,
    ...(alias === undefined || alias === 'none' ? {} : { alias }),
    identityFiles: (settings.get('identityfile') ?? []).filter((file) => file !== 'none').map(path),
    identitiesOnly: one('identitiesonly') === 'yes',
    agent: agentOf(agent, around, path),
    knownHostsFiles: files
      .flatMap((list) => splitWords(list ?? ''))
      .flatMap((file) => (file === 'none' ? [] : path(file))),
  };
}

function agentOf(
  configured: string | undefined,
  around: SshSurroundings,
  path: (written: string) => string,
): string | undefined {
  if (configured === undefined || configured === 'SSH_AUTH_SOCK' || configured === '$SSH_AUTH_SOCK')
    return around.agent;
  return configured === 'none' || configured.startsWith('$') ? undefined : path(configured);
}

function parseHop(hop: string, name: string): { destination: string; port: number | undefined } {
  const written = hop.trim().replace(/^ssh:\/\//, '');
  const [, destination = '', port] = /^(.*?)(?::([0-9]{1,5}))?$/.exec(written) ?? [];
  if (destination.startsWith('[') || destination === '')
    throw unsupported(name, `the ProxyJump “${hop.slice(0, 80)}”`);
  assertDestination(destination);
  return { destination, port: port === undefined ? undefined : Number(port) };
}

async function askSsh(words: readonly string[], name: string, around: SshSurroundings): Promise<string> {
  try {
    return await around.runSsh(words);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const said = error instanceof Error ? error.message : String(error);
    throw new UserError('incompatible', `ssh -G ${name} failed: ${said.slice(0, 500)}`, {
      remedy: 'Mend your SSH configuration; “ssh -G” with this host in a terminal shows the same.',
    });
  }
}

function unsupported(name: string, what: string, remedy = 'Change it in your SSH configuration.'): UserError {
  return new UserError(
    'incompatible',
    `The SSH configuration of ${name} uses ${what}, which is not supported`,
    { remedy },
  );
}

function expand(written: string, home: string): string {
  return written === '~' || written.startsWith('~/') ? home + written.slice(1) : written;
}

/** Words of a line, with double quotes. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
