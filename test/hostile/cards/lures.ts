import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type ListenOptions, type Socket } from 'node:net';
import { homedir, networkInterfaces } from 'node:os';
import path from 'node:path';

/** What a card is told about the things that were set out for it. All of it is known to the attacker, none is secret. */
export type LureValues = Readonly<Record<string, string>>;

/**
 * Everything an attack could get at, made anew for each: files with a secret in every place where a program might
 * look, listeners of every kind, a process to kill. `dispose` removes it all.
 */
export interface Lures {
  readonly token: string;
  /** The text that must never leave its place. */
  readonly canary: string;
  /** The token of another card that runs beside it. */
  readonly neighbourToken: string;
  readonly values: LureValues;
  /** Connections and packets that arrived, by listener. */
  readonly contacts: readonly string[];
  readonly victim: ChildProcess;
  /** Processes of the lures that name the token, which are no card's. */
  readonly ownPids: readonly number[];
  /** What differs in the watched folders from how they were laid out. */
  changes(): Promise<string[]>;
  dispose(): Promise<void>;
}

export interface Surroundings {
  /** A folder for this attack alone. */
  readonly folder: string;
  readonly canary: string;
  readonly engine: EnginePlaces;
  readonly runnerPid: number;
  /** Put over what is laid out here: what another place has in its stead. */
  readonly elsewhere?: LureValues;
}

/** What the engine owns, with a secret in each. */
export interface EnginePlaces {
  readonly blobs: string;
  readonly scratch: string;
  readonly database: string;
  /** A stored result of another card. */
  readonly secretBlob: string;
}

export async function layOutLures(surroundings: Surroundings): Promise<Lures> {
  const token = `lure${randomBytes(6).toString('hex')}`;
  const neighbourToken = `peer${randomBytes(6).toString('hex')}`;
  const { canary, engine } = surroundings;
  const undo: (() => Promise<unknown>)[] = [];
  const at = (name: string) => path.join(surroundings.folder, name);

  const files: Record<string, string> = {
    sshKey: at('home/.ssh/id_ed25519'),
    projectFile: at('project/sallyport.json'),
    gitConfig: at('project/.git/config'),
    otherProject: at('other/notes.txt'),
    shared: at('share/shared.txt'),
    outsideProgram: at('home/outside.py'),
    ...(await elsewhere(token, undo)),
  };
  for (const file of Object.values(files)) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${canary}\n`);
  }
  await writeFile(files['outsideProgram']!, `print("ROUTE outside-program got")\n`);
  await writeFile(files['shared']!, 'for the card to read\n');
  await symlink(at('home'), at('share/link-out'));
  await symlink(at('home/.ssh'), at('folder-link'));

  const contacts: string[] = [];
  const listening = async (name: string, options: ListenOptions): Promise<AddressInfo | undefined> =>
    listen(name, options, contacts, undo);
  const tcp =
    (await listening('tcp', { host: '::', port: 0 })) ??
    (await listening('tcp', { host: '0.0.0.0', port: 0 }))!;
  const allowed: string[] = [];
  const listed = (await listen('listed', { host: '127.0.0.1', port: 0 }, allowed, undo))!;
  const udp = await listenForPackets(contacts, undo);
  await listening('unix socket', { path: at('unix.sock') });
  await listening('socket in a shared folder', { path: at('share/service.sock') });
  // Whoever finds it may use it: no permission of the file is in the way.
  await chmod(at('share/service.sock'), 0o777);
  const datagrams = await listenForDatagrams(at('share/datagram.sock'), `${token}-datagram`, contacts, undo);
  const runSocket = `/run/sallyport-${token}.sock`;
  const hasRunSocket = (await listening('socket in /run', { path: runSocket })) !== undefined;
  await listening('abstract socket', { path: `\0${token}` });

  // It ends with this process, whose end of the pipe is all that it waits for.
  const victim = spawn('/bin/sh', ['-c', 'read line', token], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin', VICTIM_SECRET: canary },
  });
  await once(victim, 'spawn');
  undo.push(() => endOf(victim));

  const values: LureValues = {
    ...files,
    token,
    neighbourToken,
    folder: surroundings.folder,
    home: at('home'),
    project: at('project'),
    share: at('share'),
    folderLink: at('folder-link'),
    blobs: engine.blobs,
    secretBlob: engine.secretBlob,
    scratch: engine.scratch,
    engineDatabase: engine.database,
    tcpPort: String(tcp.port),
    listedPort: String(listed.port),
    udpPort: String(udp),
    machineAddress: machineAddress() ?? '',
    listenerAddress: '127.0.0.1',
    unixSocket: at('unix.sock'),
    runSocket: hasRunSocket ? runSocket : '',
    abstractSocket: token,
    datagramSocket: at('share/datagram.sock'),
    abstractDatagram: `${token}-datagram`,
    victimPid: String(victim.pid),
    runnerPid: String(surroundings.runnerPid),
    testPid: String(process.pid),
    hostName: (await readFile('/proc/sys/kernel/hostname', 'utf8').catch(() => '')).trim(),
    ...surroundings.elsewhere,
  };
  const watched = ['home', 'project', 'other', 'share'].map(at);
  const before = await photograph(watched);
  return {
    token,
    canary,
    neighbourToken,
    values,
    contacts,
    victim,
    ownPids: [victim, datagrams].map((child) => child.pid ?? 0),
    changes: async () => {
      const after = await photograph(watched);
      return [...new Set([...before.keys(), ...after.keys()])].filter(
        (name) => before.get(name) !== after.get(name),
      );
    },
    dispose: async () => {
      for (const step of undo.reverse()) await step();
    },
  };
}

/** Secrets outside the temporary folder, so that hiding that one alone is not enough. */
async function elsewhere(token: string, undo: (() => Promise<unknown>)[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, parent] of Object.entries({
    varTmp: '/var/tmp',
    sharedMemory: '/dev/shm',
    userHome: homedir(),
  })) {
    const folder = path.join(parent, `.sallyport-${token}`);
    if (await mkdir(folder).catch(() => 'missing')) continue;
    undo.push(() => rm(folder, { recursive: true, force: true }));
    found[name] = path.join(folder, `${token}.txt`);
  }
  return found;
}

async function listen(
  name: string,
  options: ListenOptions,
  contacts: string[],
  undo: (() => Promise<unknown>)[],
): Promise<AddressInfo | undefined> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    contacts.push(`${name} was reached`);
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => open.delete(socket));
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlured'),
    );
  });
  const started = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(options, () => resolve(true));
  });
  if (!started) return undefined;
  undo.push(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return server.address() as AddressInfo;
}

async function listenForPackets(contacts: string[], undo: (() => Promise<unknown>)[]): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (message) => contacts.push(`a packet of ${message.length} bytes`));
  await new Promise<void>((resolve) => socket.bind(0, '0.0.0.0', resolve));
  undo.push(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return socket.address().port;
}

/** Node has no Unix sockets for datagrams, so another program hears them. It ends with its input. */
async function listenForDatagrams(
  file: string,
  abstract: string,
  contacts: string[],
  undo: (() => Promise<unknown>)[],
): Promise<ChildProcess> {
  const text = `
import os, select, socket, sys
def listen(address):
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(address)
    return heard
sockets = {listen(sys.argv[1]): "datagram in a shared folder", listen("\\0" + sys.argv[2]): "abstract datagram"}
os.chmod(sys.argv[1], 0o777)
print("ready", flush=True)
while True:
    for ready in select.select([0, *sockets], [], [])[0]:
        if ready == 0:
            sys.exit()
        ready.recv(100)
        print(sockets[ready], flush=True)
`;
  const child = spawn('/usr/bin/python3', ['-I', '-c', text, file, abstract], {
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  undo.push(() => endOf(child));
  child.stdout.setEncoding('utf8').on('data', (said: string) => {
    contacts.push(...said.split('\n').filter((line) => line !== '' && line !== 'ready'));
  });
  await once(child.stdout, 'data');
  return child;
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function machineAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find((each) => !each.internal && each.family === 'IPv4')?.address;
}

/** Name → what it is, of all that lies in the folders; links are not followed. */
async function photograph(folders: readonly string[]): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const full = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        seen.set(full, `folder ${(await stat(full)).mode}`);
        await visit(full);
      } else if (entry.isSymbolicLink()) seen.set(full, `link ${await readlink(full)}`);
      else if (entry.isFile()) seen.set(full, (await readFile(full)).toString('base64'));
      else seen.set(full, 'special');
    }
  };
  for (const folder of folders) await visit(folder);
  return seen;
}
