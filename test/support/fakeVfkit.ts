import { spawn } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocketServer, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { guestAnswer, guestOpening } from '../../protocol/src/vmGuest.ts';
import { until } from './until.ts';

/**
 * Stands in for vfkit: takes the options that its documentation names and no others, makes their sockets, and is the
 * guest at the other end of them, with a real runner of this machine. The first two arguments are the test's: the
 * runner's program, and a folder for what it serves.
 */
const [program = '', work = '', ...words] = process.argv.slice(2);

function fail(why: string): never {
  process.stderr.write(`Error: ${why}\n`);
  process.exit(1);
}

const options = new Map<string, string[]>();
for (let at = 0; at < words.length; at += 2) {
  const [name = '', value] = words.slice(at, at + 2);
  if (!['--cpus', '--memory', '--log-level', '--restful-uri', '--bootloader', '--device'].includes(name))
    fail(`unknown flag: ${name}`);
  if (value === undefined) fail(`flag needs an argument: ${name}`);
  options.set(name, [...(options.get(name) ?? []), value]);
}
const one = (name: string) => {
  const [value, ...more] = options.get(name) ?? [];
  return value === undefined || more.length > 0 ? fail(`needs one ${name}`) : value;
};
const parts = (text: string) => {
  const [kind = '', ...rest] = text.split(',');
  return {
    kind,
    values: new Map(rest.map((each) => [each.split('=')[0] ?? '', each.slice(each.indexOf('=') + 1)])),
  };
};
const file = (path: string | undefined) =>
  path !== undefined && existsSync(path) && statSync(path).isFile() ? path : fail(`no such file: ${path}`);

for (const name of ['--cpus', '--memory']) if (!/^[1-9][0-9]*$/.test(one(name))) fail(`bad ${name}`);
const boot = parts(one('--bootloader'));
if (boot.kind !== 'linux') fail('unknown bootloader');
for (const name of ['kernel', 'initrd']) file(boot.values.get(name));
if (!/^".*"$/.test(boot.values.get('cmdline') ?? '')) fail('the command line is not in quotes');

const devices = (options.get('--device') ?? []).map(parts);
const ports = new Map<string, string>();
for (const { kind, values } of devices) {
  switch (kind) {
    case 'virtio-blk':
      file(values.get('path'));
      break;
    case 'virtio-vsock':
      if (!values.has('connect')) fail('this VM listens');
      ports.set(values.get('port') ?? '', values.get('socketURL') ?? '');
      break;
    case 'virtio-serial':
      writeFileSync(values.get('logFilePath') ?? '', 'booted\n');
      break;
    case 'virtio-rng':
    case 'virtio-fs':
      break;
    default:
      fail(`unknown device: ${kind}`);
  }
}

const home = join(work, 'guest');
const runner = spawn(process.execPath, [program, 'serve', '--home', home], {
  stdio: 'ignore',
  env: { PATH: '/usr/bin:/bin' },
});
process.once('exit', () => runner.kill('SIGKILL'));
await until(() => existsSync(join(home, 'runner.sock')));

for (const path of ports.values()) createSocketServer({ allowHalfOpen: true }, serveUse).listen(path);

function serveUse(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.once('data', (chunk: Buffer) => {
    const end = chunk.indexOf(10);
    const opening = guestOpening.parse(JSON.parse(chunk.toString('latin1', 0, end)));
    socket.write(guestAnswer(opening.token));
    const joined = connect(join(home, 'runner.sock'));
    joined.on('error', () => undefined).once('close', () => socket.destroy());
    socket.once('close', () => joined.destroy());
    joined.write(chunk.subarray(end + 1));
    socket.pipe(joined).pipe(socket);
  });
}

const orders = one('--restful-uri').replace(/^unix:\/\//, '');
createServer((request, response) => {
  if (request.url !== '/vm/state') {
    response.writeHead(404).end();
    return;
  }
  let body = '';
  request.on('data', (text: Buffer) => (body += text.toString()));
  request.on('end', () => {
    response.setHeader('Content-Type', 'application/json');
    if (request.method === 'GET')
      response.end(JSON.stringify({ state: 'VirtualMachineStateRunning', canStop: true }));
    else if ((JSON.parse(body) as { state?: unknown }).state === 'HardStop') {
      response.writeHead(202).end();
      response.once('close', () => process.exit(0));
    } else response.writeHead(400).end();
  });
}).listen(orders);
