import { availableParallelism, homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { handedOnEnvironment } from '../environment.ts';
import { connectRunner, startDetached } from '../served/connect.ts';
import { fingerprintOf } from './identity.ts';
import { assertRoomForSocket } from '../served/soleSocket.ts';
import { serveTurns, turnsSocket } from './hostTurns.ts';
import { toInvitation } from './invitation.ts';
import { WorkerFiles } from './workerFiles.ts';
import { serveWorker } from './workerServer.ts';

export const workerUsage = `runner.cjs worker serve [--listen HOST:PORT] [--home DIR]
runner.cjs worker invite --address HOST:PORT [--home DIR]
runner.cjs worker list | identity [--home DIR]
runner.cjs worker remove FINGERPRINT [--home DIR]`;

const defaultListen = '0.0.0.0:7337';
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
    const files = new WorkerFiles(values.home ?? join(homedir(), '.local', 'state', 'sallyport-worker'), uid);
    const fingerprint = fingerprintOf(files.signer().spki);
    switch (command) {
      case 'serve': {
        const { host, port } = parseAddress(values.listen ?? defaultListen);
        assertRoomForSocket(files.homeOf(fingerprint));
        const turns = await serveTurns(files.path, availableParallelism());
        const environment = handedOnEnvironment();
        const ofRunners = ['--turns', turnsSocket(files.path)];
        const server = await serveWorker({
          files,
          host,
          port,
          perMinute: { member: 600, strangers: 60 },
          connectRunner: (home) =>
            connectRunner({
              home,
              uid,
              startServer: (folder) =>
                startDetached(process.execPath, process.argv[1] ?? '', folder, environment, ofRunners),
              waitMs: startMs,
            }),
          now: () => Date.now(),
        });
        say(`Worker ${fingerprint} listens at ${host}:${server.port}`);
        for (const signal of ['SIGTERM', 'SIGINT'] as const)
          process.once(signal, () => {
            turns.close();
            void server.close().then(() => process.exit(0));
          });
        return;
      }
      case 'invite': {
        const address = parseAddress(values.address ?? `${hostname()}:7337`);
        const secret = files.invite(Date.now());
        say(toInvitation({ ...address, fingerprint, secret }));
        process.stderr.write('Good once, for an hour. Give it only to who is to use this worker.\n');
        break;
      }
      case 'identity':
        say(fingerprint);
        break;
      case 'list':
        for (const { identity, name } of files.members()) say(`${identity.fingerprint}  ${name}`);
        break;
      case 'remove':
        if (operand === undefined || !files.remove(operand))
          throw new Error(`No identity ${operand ?? ''} is in the list`);
        say(`Removed ${operand}: its next connection is refused. What runs for it goes on to its end.`);
        break;
      default:
        throw new Error(workerUsage);
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
  if (host === undefined || Number(port) > 65_535) throw new Error(`“${text}” is not HOST:PORT`);
  return { host, port: Number(port) };
}
