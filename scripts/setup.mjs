// What `npm start` and `npm test` need before anything else, on a fresh clone with any Node from 20 on.
// Only Node built-ins here: it runs before `npm ci`.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { env, exit, getuid, platform, stderr } from 'node:process';

export const root = join(import.meta.dirname, '..');
const stampFile = join(root, 'node_modules', '.sallyport-lock');

/** Debian packages by the program that shows their presence. */
const packages = {
  bubblewrap: { program: '/usr/bin/bwrap', why: 'runs cards sealed' },
  python3: { program: '/usr/bin/python3', why: 'runs Python cards' },
  chromium: { program: '/usr/bin/chromium', why: 'shows VS Code and the views to the tests' },
  git: { program: '/usr/bin/git', why: 'is used by the tests' },
  'qemu-system-x86': { program: '/usr/bin/qemu-system-x86_64', why: 'runs the VMs of the tests' },
  'qemu-utils': { program: '/usr/bin/qemu-img', why: 'makes the disks of VMs' },
  virtiofsd: {
    // In a package of its own since Debian 13; before, it came with QEMU.
    program: ['/usr/libexec/virtiofsd', '/usr/lib/qemu/virtiofsd'],
    why: 'shows folders to the VMs of the tests',
  },
  'openssh-server': { program: '/usr/sbin/sshd', why: 'is the host of the tests over SSH' },
  'openssh-client': { program: '/usr/bin/ssh', why: 'reads SSH configurations' },
  iptables: {
    program: '/usr/sbin/iptables',
    why: 'loses packets for the tests where the kernel has no netem',
  },
  iproute2: { program: '/usr/sbin/tc', why: 'makes slow and lossy networks for the tests' },
  'slurm-wlm': { program: '/usr/sbin/slurmctld', why: 'is the cluster of the tests' },
  munge: { program: '/usr/sbin/munged', why: 'is what Slurm signs its messages with' },
  curl: { program: '/usr/bin/curl', why: 'is run sealed by the tests' },
};

/** The environment of every child: the project's own Node and tools come first on the PATH. */
export function toolEnvironment() {
  return { ...env, PATH: [join(root, 'node_modules', '.bin'), env.PATH].join(delimiter) };
}

/** Installs the packages of the lock file where they are missing or the lock file changed. */
export function ensureDependencies() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === lock) return;
  say('Installing npm packages (about half a minute) …');
  const result = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) fail('npm ci failed; its own words are above.');
  writeFileSync(stampFile, lock);
}

/** Installs what is missing with apt when root on a Debian-like system; otherwise says what to install, and ends. */
export function ensureSystemPackages(names) {
  const missing = names.filter((name) => ![packages[name].program].flat().some((path) => existsSync(path)));
  if (missing.length === 0) return;
  const list = missing.map((name) => `  ${name}: ${packages[name].why}`).join('\n');
  if (platform !== 'linux' || getuid() !== 0 || !existsSync('/usr/bin/apt-get')) {
    fail(
      `These are missing:\n${list}\nInstall them with your package manager, for example:\n  sudo apt-get install ${missing.join(' ')}`,
    );
  }
  say(`Installing ${missing.join(', ')} …`);
  const quiet = { stdio: ['ignore', 'ignore', 2], env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  spawnSync('apt-get', ['update', '-q'], quiet);
  const result = spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...missing], quiet);
  if (result.status !== 0) fail(`apt-get could not install ${missing.join(', ')}; its own words are above.`);
}

/** Runs a program with the project's tools on the PATH; resolves with its exit code. Output is passed on. */
export function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: toolEnvironment(),
      stdio: ['ignore', 'inherit', 'inherit'],
      ...options,
    });
    options.onStart?.(child);
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

export function say(text) {
  stderr.write(`${text}\n`);
}

export function fail(text) {
  say(text);
  exit(1);
}
