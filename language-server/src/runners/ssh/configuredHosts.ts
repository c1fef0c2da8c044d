import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';

/** What is read of the SSH configuration, by absolute path. Undefined and empty where there is nothing to read. */
export interface ConfigurationFiles {
  read(path: string): string | undefined;
  /** The names in a folder. */
  names(folder: string): readonly string[];
}

const most = { files: 64, depth: 16, fileBytes: 1024 * 1024, hosts: 1000 } as const;
/** A name that `ssh` takes for a destination, and no pattern. */
const plainName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$/;

/**
 * The hosts that `~/.ssh/config` names, with what it includes, for a person to choose from: in its order, each once,
 * patterns left out. It says nothing of how a host is reached; `ssh -G` does, when one is used (ssh_config(5)).
 */
export function configuredHosts(home: string, files: ConfigurationFiles = diskFiles): string[] {
  const folder = join(home, '.ssh');
  const hosts = new Set<string>();
  const seen = new Set<string>();
  const read = (path: string, depth: number): void => {
    if (depth > most.depth || seen.size >= most.files || seen.has(path)) return;
    seen.add(path);
    for (const line of (files.read(path) ?? '').split('\n')) {
      const [, keyword = '', rest = ''] = /^\s*([A-Za-z]+)(?:\s*=\s*|\s+)(.*?)\s*$/.exec(line) ?? [];
      const words = [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
      if (keyword.toLowerCase() === 'host') {
        for (const word of words) if (plainName.test(word) && hosts.size < most.hosts) hosts.add(word);
      } else if (keyword.toLowerCase() === 'include') {
        for (const word of words)
          for (const found of matching(absolute(word, home, folder), files)) read(found, depth + 1);
      }
    }
  };
  read(join(folder, 'config'), 0);
  return [...hosts];
}

function absolute(word: string, home: string, folder: string): string {
  if (word.startsWith('~/')) return join(home, word.slice(2));
  return isAbsolute(word) ? word : join(folder, word);
}

/** The files that a path names; its last part may have `*` and `?`. */
function matching(path: string, files: ConfigurationFiles): string[] {
  const last = basename(path);
  if (!/[*?]/.test(last)) return [path];
  const pattern = new RegExp(
    `^${last
      .replace(/[^*?]/g, (each) => each.replace(/[\\^$.|+()[\]{}]/, '\\$&'))
      .replaceAll('?', '.')
      .replace(/\*+/g, '.*')}$`,
  );
  return files
    .names(dirname(path))
    .filter((name) => pattern.test(name) && (!name.startsWith('.') || last.startsWith('.')))
    .sort()
    .map((name) => join(dirname(path), name));
}

const diskFiles: ConfigurationFiles = {
  read: (path) => {
    try {
      const found = statSync(path);
      return found.isFile() && found.size <= most.fileBytes ? readFileSync(path, 'utf8') : undefined;
    } catch {
      return undefined;
    }
  },
  names: (folder) => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  },
};
