import { availableParallelism, homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { handedOnEnvironment } from '../environment.ts';
import { systemCode } from '../files/fileError.ts';
import { connectRunner, startDetached } from '../served/connect.ts';
import { fingerprintOf } from './identity.ts';
import { assertRoomForSocket } from '../served/soleSocket.ts';
import { serveTurns, turnsSocket } from './hostTurns.ts';
import { toInvitation } from './invitation.ts';
import { WorkerFiles } from './workerFiles.ts';
import { serveWorker } from './workerServer.ts';

const usage = `sallyport worker serve [--listen HOST:PORT] [--home DIR]
sallyport worker invite --address HOST:PORT [--home DIR]
sallyport worker list | identity [--home DIR]
sallyport worker remove FINGERPRINT [--home DIR]`;

/** Near the root, since sockets below it have little room for their paths. */
const defaultHome = '.sallyport-worker';
const defaultPort = 7337;
const defaultListen = `0.0.0.0:${defaultPort}`;
const startMs = 20_000;

/** The commands of whoever keeps a worker. Ends the process, except for `serve`. */
export async function runWorkerCommand(words: readonly string[], uid: number): Promise<void> {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { home: { type: 'string' }, listen: { type: 'string' }, address: { type: 'string' } },
    });
    const [command, operand] = positionals;
    const home = resolve(values.home ?? join(homedir(), defaultHome));
    const files = new WorkerFiles(home, uid);
    const fingerprint = fingerprintOf(files.signer().spki);
    switch (command) {
      case 'serve': {
        const { host, port } = parseAddress(values.listen ?? defaultListen);
        assertRoomForSocket(files.homeOf(fingerprint));
        const turns = await serveTurns(files.path, availableParallelism()).catch(toKept(files.path));
        const environment = handedOnEnvironment();
        const ofRunners = ['--turns', turnsSocket(files.path)];
        const server = await serveWorker({
          files,
          host,
          port,
          perMinute: { member: 600, strangers: 60 },
          connectRunner: (folder) =>
            connectRunner({
              home: folder,
              uid,
              startServer: (at) =>
                startDetached(process.execPath, process.argv[1] ?? '', at, environment, ofRunners),
              waitMs: startMs,
            }),
          now: () => Date.now(),
        }).catch(toListening(host, port));
        say(`Worker ${fingerprint} listens at ${host.includes(':') ? `[${host}]` : host}:${server.port}`);
        for (const signal of ['SIGTERM', 'SIGINT'] as const)
          process.once(signal, () => {
            turns.close();
            void server.close().then(() => process.exit(0));
          });
        return;
      }
      case 'invite': {
        const address = parseAddress(values.address ?? `${hostname()}:${defaultPort}`);
        if (address.port === 0) throw new Error('An invitation needs the port at which the worker listens');
        const secret = files.invite(Date.now());
        say(toInvitation({ ...address, fingerprint, secret }));
        process.stderr.write('Good once, for an hour. Give it only to who is to use this worker.\n');
        if (values.address === undefined) {
          const name = `${address.host}:${address.port}`;
          process.stderr.write(`Others must reach this host as ${name}; if not, say --address HOST:PORT.\n`);
        }
        break;
      }
      case 'identity':
        say(fingerprint);
        break;
      case 'list':
        for (const { identity, name } of files.members()) say(`${identity.fingerprint}  ${name}`);
        if (files.members().length === 0) process.stderr.write('Nobody is enrolled.\n');
        break;
      case 'remove':
        if (operand === undefined)
          throw new Error('Which one? sallyport worker remove FINGERPRINT, as sallyport worker list has it');
        if (!files.remove(operand))
          throw new Error(`No identity ${operand} is in the list: sallyport worker list has those that are`);
        say(`Removed ${operand}: its next connection is refused. What runs for it goes on to its end.`);
        break;
      default:
        throw new Error(`this is how it is used:\n${usage}`);
    }
    process.exit(0);
  } catch (error) {
    process.stderr.write(`sallyport worker: ${errorMessage(error)}\n`);
    process.exit(1);
  }
}

/** `host:port`, an IPv6 address in brackets. Throws for anything else. */
function parseAddress(text: string): { host: string; port: number } {
  const [, bracketed, plain, port] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw new Error(`“${text}” is not HOST:PORT, such as 0.0.0.0:${defaultPort} or [::]:${defaultPort}`);
  return { host, port: Number(port) };
}

/** Another worker has the folder's turns. */
function toKept(folder: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof UserError) || error.code !== 'conflict') throw error;
    throw new Error(`A worker is kept in ${folder} already; --home DIR keeps another one`, { cause: error });
  };
}

/** Why nothing can listen there, in words. */
function toListening(host: string, port: number): (error: unknown) => never {
  return (error) => {
    const whys: Readonly<Record<string, string>> = {
      EADDRINUSE: `another program listens at port ${port}; choose one with --listen HOST:PORT`,
      EADDRNOTAVAIL: `${host} is no address of this machine; 0.0.0.0 stands for all that it has`,
      EACCES: `only root may listen at port ${port}; choose one above 1023`,
      ENOTFOUND: `there is no host ${host}`,
    };
    const why = whys[systemCode(error)];
    throw why === undefined ? error : new Error(`The worker can’t listen: ${why}`, { cause: error });
  };
}
