// Finds or installs VS Code's own server, as the npm package code-server carries it: for machines that reach npm but
// no download of VS Code. Used by `npm start` without a desktop VS Code and by the integration tests.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { env, stderr } from 'node:process';

/** The version of code-server; it carries VS Code 1.139.1. */
export const vscodeServerVersion = '4.139.1';

/**
 * The installed server: `root` is its folder, `main` the file to run with Node 24. Installs it where it is missing, into
 * a cache that all clones share. Safe to call at once from several processes: a folder appears there only when complete.
 */
export async function ensureVscodeServer(say = (text) => stderr.write(`${text}\n`)) {
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sallyport-test');
  const folder = join(cache, vscodeServerVersion);
  if (!isComplete(folder)) await install(cache, folder, say);
  const root = vscodeFolder(folder);
  return { version: vscodeServerVersion, root, main: join(root, 'out', 'server-main.js') };
}

/**
 * Arguments of `main`. Without `connectionToken` the server answers anybody on this machine: for tests only.
 * `isTestDriver` makes the page honour the keys by which a test is started; without it such a test never begins.
 */
export function serverArguments({ port, dataDir, connectionToken, hasTrust = true, isTestDriver = false }) {
  return [
    ...['--host', '127.0.0.1', '--port', String(port), '--server-data-dir', dataDir],
    ...['--accept-server-license-terms', '--telemetry-level', 'off'],
    ...(connectionToken ? ['--connection-token', connectionToken] : ['--without-connection-token']),
    ...(hasTrust ? [] : ['--disable-workspace-trust']),
    ...(isTestDriver ? ['--enable-smoke-test-driver'] : []),
  ];
}

function vscodeFolder(folder) {
  return join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
}

function isComplete(folder) {
  const root = vscodeFolder(folder);
  return ['out/server-main.js', 'node_modules', 'extensions/node_modules'].every((path) =>
    existsSync(join(root, path)),
  );
}

async function install(cache, folder, say) {
  say(`Installing VS Code's server (code-server ${vscodeServerVersion}, 600 MB, about a minute) …`);
  await mkdir(cache, { recursive: true });
  const partial = await mkdtemp(join(cache, 'partial-'));
  try {
    await writeFile(join(partial, 'package.json'), '{ "private": true }\n');
    await npm(partial, ['install', `code-server@${vscodeServerVersion}`]);
    await npm(vscodeFolder(partial), ['install', '--omit=dev']);
    await npm(join(vscodeFolder(partial), 'extensions'), ['install', '--omit=dev']);
    await moveIntoPlace(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Another process may have been faster: its folder stays. One that is there and incomplete is replaced. */
async function moveIntoPlace(partial, folder) {
  if (existsSync(folder) && !isComplete(folder)) await rm(folder, { recursive: true, force: true });
  try {
    await rename(partial, folder);
  } catch (error) {
    if (!isComplete(folder)) throw error;
  }
}

function npm(cwd, args) {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  return new Promise((resolve, reject) => {
    const child = spawn('npm', [...args, ...quiet], { cwd, stdio: ['ignore', 2, 2] });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`Failed to install VS Code's server: npm ${args[0]} ended with ${code}`)),
    );
  });
}
