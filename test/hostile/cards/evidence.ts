import { readdirSync, readFileSync } from 'node:fs';
import type { Proof } from './attack.ts';
import type { Lures } from './lures.ts';

/** One thing that shows that an attack worked. `detail` is for the person who reads the failed test. */
export interface Evidence {
  readonly proof: Proof;
  readonly detail: string;
}

/** What a card reported of its routes: `ROUTE <name> got|held <detail>`, one line each. */
export interface RouteReport {
  readonly name: string;
  readonly got: boolean;
  readonly detail: string;
}

/** The reports in a log, in order. A name may come more than once. */
export function routesIn(log: string): RouteReport[] {
  return [...log.matchAll(/^ROUTE ([a-z0-9-]+) (got|held)(.*)$/gm)].map((match) => ({
    name: match[1]!,
    got: match[2] === 'got',
    detail: match[3]!.trim().slice(0, 300),
  }));
}

/** What every attack is looked at for, whatever it says it does. `texts` are its log and outputs. */
export async function commonEvidence(
  lures: Lures,
  log: string,
  texts: readonly (Buffer | string)[],
): Promise<Evidence[]> {
  const found: Evidence[] = [];
  for (const route of routesIn(log)) {
    if (route.got) found.push({ proof: 'route', detail: `${route.name} ${route.detail}` });
  }
  if ([log, ...texts].some((text) => text.includes(lures.canary)))
    found.push({ proof: 'canary', detail: 'a secret from outside came out' });
  for (const contact of lures.contacts) found.push({ proof: 'contact', detail: contact });
  if (lures.victim.exitCode !== null || lures.victim.signalCode !== null)
    found.push({ proof: 'victim', detail: `ended by ${lures.victim.signalCode ?? 'itself'}` });
  for (const change of await lures.changes()) found.push({ proof: 'changed', detail: change });
  for (const survivor of survivorsOf(lures)) found.push({ proof: 'survivor', detail: survivor.command });
  return found;
}

/** Looks more than once: what forks all the time can slip through a single look. */
function survivorsOf(lures: Lures): { readonly command: string }[] {
  for (let look = 0; look < 3; look++) {
    const found = processesNaming(lures.token, lures.ownPids);
    if (found.length > 0) return found;
  }
  return [];
}

/** Processes with this text in their arguments or environment. Its own process is never one of them. */
export function processesNaming(
  token: string,
  except: readonly number[],
): { readonly pid: number; readonly command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && !except.includes(pid))
    .filter((pid) => contentOf(pid, 'cmdline').includes(token) || contentOf(pid, 'environ').includes(token))
    .map((pid) => ({ pid, command: contentOf(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 200) }));
}

function contentOf(pid: number, name: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
