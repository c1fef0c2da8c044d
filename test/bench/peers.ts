import { spawnSync } from 'node:child_process';

const packages: Readonly<Record<string, string>> = { make: 'make', snakemake: 'snakemake', podman: 'podman' };

/** True where this program is there, after trying Debian's package of it where this process may install one. */
export function installed(program: string): boolean {
  if (runs(program)) return true;
  const name = packages[program];
  if (name === undefined || process.getuid?.() !== 0 || !runs('apt-get')) return false;
  const arguments_ = ['install', '-y', '-q', '--no-install-recommends', name];
  spawnSync('apt-get', arguments_, {
    stdio: 'ignore',
    timeout: 600_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return runs(program);
}

function runs(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 60_000 }).status === 0;
}
