import { closeSync, existsSync } from 'node:fs';
import { UserError } from '../../../../protocol/src/errors.ts';
import { openBelow, openRealFolder } from '../../../../remote-agent/src/files/openBelow.ts';
import { spawnSearch } from '../../environment.ts';
import type { Wanted } from './findInText.ts';

/** One line that was found. */
export interface Hit {
  /** Relative to where the search started. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface RipgrepSearch extends Wanted {
  readonly base: string;
  readonly start: string;
  /** Shell pattern that the path of a file must match; null for all. */
  readonly glob: string | null;
  readonly ignored: boolean;
  readonly most: number;
  readonly signal: AbortSignal;
}

const timeoutMs = 20_000;
const systemPaths = ['/usr/bin/rg', '/usr/local/bin/rg', '/opt/homebrew/bin/rg'];

/** A ripgrep at a path that no project can name: the system's, or the one that VS Code brings. Null where there is none. */
export function findRipgrep(vscodeRipgrep: string | null): string | null {
  return (
    [...systemPaths, ...(vscodeRipgrep === null ? [] : [vscodeRipgrep])].find((path) => existsSync(path)) ??
    null
  );
}

/** The arguments of one search. Nothing of the pattern can be an option, no configuration is read, no link followed. */
function ripgrepArguments(search: Omit<RipgrepSearch, 'base' | 'start' | 'most' | 'signal'>): string[] {
  return [
    '--no-config',
    '--no-follow',
    '--hidden',
    '--no-require-git',
    '--no-ignore-global',
    '--no-ignore-exclude',
    '--no-ignore-dot',
    '--color=never',
    '--no-heading',
    '--with-filename',
    '--line-number',
    '--null',
    '--max-filesize=16M',
    '--max-columns=1000',
    '--max-columns-preview',
    '--glob=!.git',
    ...(search.ignored ? ['--no-ignore-vcs'] : []),
    ...(search.glob === null ? [] : [`--glob=${search.glob}`]),
    search.ignoreCase ? '--ignore-case' : '--case-sensitive',
    ...(search.isRegexp ? [] : ['--fixed-strings']),
    '--',
    search.pattern,
    '.',
  ];
}

/** Searches with ripgrep, below a folder that was opened without following. Ends it at `most` hits. */
export async function searchWithRipgrep(
  program: string,
  search: RipgrepSearch,
): Promise<{ hits: Hit[]; isCut: boolean }> {
  const base = openRealFolder(search.base);
  try {
    const folder = openBelow(base, search.start === '' ? [] : search.start.split('/'));
    if (!folder) throw new UserError('not-found', `${search.start} is not there`);
    try {
      const { childrenBy, descriptor, path } = folder;
      const cwd = childrenBy === 'descriptor' ? `/proc/${process.pid}/fd/${descriptor}` : path;
      return await run(program, search, cwd);
    } finally {
      if (folder !== base) closeSync(folder.descriptor);
    }
  } finally {
    closeSync(base.descriptor);
  }
}

function run(program: string, search: RipgrepSearch, cwd: string): Promise<{ hits: Hit[]; isCut: boolean }> {
  return new Promise((resolve, reject) => {
    const child = spawnSearch(program, ripgrepArguments(search), cwd);
    const hits: Hit[] = [];
    let isCut = false;
    let rest = '';
    let problem = '';
    const end = () => void child.kill('SIGKILL');
    const timer = setTimeout(() => {
      isCut = true;
      end();
    }, timeoutMs);
    search.signal.addEventListener('abort', end, { once: true });
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const hit = parseHit(line);
        if (hit && hits.length < search.most) hits.push(hit);
        else if (hit) isCut = true;
      }
      if (isCut) end();
    });
    child.stderr
      ?.setEncoding('utf8')
      .on('data', (chunk: string) => (problem = (problem + chunk).slice(0, 2000)));
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      search.signal.removeEventListener('abort', end);
      if (search.signal.aborted) reject(new UserError('cancelled', 'Cancelled while searching'));
      else if (code === 2 && hits.length === 0)
        reject(new UserError('bad-message', `The search failed: ${problem.trim()}`));
      else resolve({ hits, isCut });
    });
  });
}

function parseHit(line: string): Hit | undefined {
  const [, path, number, text] = /^(?:\.\/)?([^\0]+)\0(\d+):(.*)$/.exec(line) ?? [];
  return path === undefined || number === undefined
    ? undefined
    : { path, line: Number(number), text: text ?? '' };
}
