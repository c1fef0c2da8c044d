import { spawnSync } from 'node:child_process';

const packages: Readonly<Record<string, string>> = {
  make: 'make',
  snakemake: 'snakemake',
  podman: 'podman',
  rg: 'ripgrep',
  socat: 'socat',
};

/** True where this program is there, after trying Debian's package of it where this process may install one. */
export function installed(program: string, versionFlag = '--version'): boolean {
  if (runs(program, versionFlag)) return true;
  const name = packages[program];
  if (name === undefined || process.getuid?.() !== 0 || !runs('apt-get')) return false;
  const arguments_ = ['install', '-y', '-q', '--no-install-recommends', name];
  spawnSync('apt-get', arguments_, {
    stdio: 'ignore',
    timeout: 600_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return runs(program, versionFlag);
}

function runs(program: string, versionFlag = '--version'): boolean {
  return spawnSync(program, [versionFlag], { stdio: 'ignore', timeout: 60_000 }).status === 0;
}
