// `npm start`: installs, packages, and opens VS Code with Sallyport and the sample project.
// Desktop VS Code where `code` is on the PATH; otherwise VS Code's own server on a loopback address.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, env, exit, getuid, platform, stdout } from 'node:process';
import { ensureDependencies, ensureSystemPackages, fail, root, run, say, toolEnvironment } from './setup.mjs';

const project = resolve(argv[2] ?? join(root, 'test-fixtures', 'projects', 'seattle-weather'));

ensureDependencies();
if (platform === 'linux') ensureSystemPackages(['bubblewrap', 'python3']);
say('Building …');
if ((await run('node', ['scripts/package.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] })) !== 0)
  fail('The build failed; its own words are above.');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const vsix = join(root, `sallyport-${version}.vsix`);

if (hasDesktop()) await openDesktop();
else await openServer();

/** `code` of a desktop. Root gets the server: desktop VS Code refuses to run as root without flags that weaken it. */
function hasDesktop() {
  if (getuid?.() === 0 || env.SALLYPORT_START === 'server') return false;
  return spawnSync('code', ['--version'], { stdio: 'ignore', shell: platform === 'win32' }).status === 0;
}

async function openDesktop() {
  const shell = platform === 'win32';
  if ((await run('code', ['--install-extension', vsix, '--force'], { shell })) !== 0)
    fail('VS Code did not take the extension.');
  await run('code', ['--new-window', project], { shell });
  say('VS Code is open. Sallyport is in the side bar.');
}

async function openServer() {
  const { ensureVscodeServer, serverArguments } = await import('./vscodeServer.mjs');
  const { main } = await ensureVscodeServer(say);
  const dataDir = join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'sallyport-start');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  chmodSync(dataDir, 0o700);
  const connectionToken = randomBytes(16).toString('hex');
  const port = await freePort();
  // The server prints much that is not for a newcomer: optional native modules that it does without.
  const logFile = join(dataDir, 'server.log');
  const log = openSync(logFile, 'w', 0o600);
  const dataDirArguments = ['--server-data-dir', dataDir, '--accept-server-license-terms'];
  const installed = await run('node', [main, '--install-extension', vsix, '--force', ...dataDirArguments], {
    stdio: ['ignore', log, log],
  });
  if (installed !== 0) fail(`VS Code’s server did not take the extension; see ${logFile}.`);
  const server = spawn('node', [main, ...serverArguments({ port, dataDir, connectionToken })], {
    env: toolEnvironment(),
    stdio: ['ignore', 'pipe', log],
  });
  const address = `http://127.0.0.1:${port}/?tkn=${connectionToken}&folder=${encodeURIComponent(project)}`;
  let told = false;
  server.stdout.on('data', (chunk) => {
    if (told || !String(chunk).includes(String(port))) return;
    told = true;
    stdout.write(
      `\nVS Code with Sallyport and ${project}:\n\n  ${address}\n\nCtrl+C ends it. Its log: ${logFile}\n`,
    );
    openBrowser(address);
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
  server.on('close', (code) => {
    if (!told) say(`VS Code’s server ended before it was ready; see ${logFile}.`);
    exit(code ?? 0);
  });
}

function openBrowser(address) {
  const opener = { darwin: 'open', win32: 'explorer' }[platform] ?? 'xdg-open';
  spawn(opener, [address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
