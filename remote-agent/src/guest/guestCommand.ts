import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod/mini';
import { errorMessage } from '../../../protocol/src/errors.ts';
import {
  guestAnswer,
  guestFixedAddresses,
  guestOpening,
  guestOpeningBytes,
  guestPorts,
  guestReadyLine,
  guestVsock,
  guestShares,
  isGuestShare,
  type GuestOpening,
  type GuestPort,
} from '../../../protocol/src/vmGuest.ts';
import { toArchitecture } from '../isolation/place.ts';
import { probeHere } from '../isolation/probeHere.ts';
import type { RunnerOptions } from '../runner.ts';
import { createDeferred } from '../deferred.ts';
import { passingDisk } from '../served/journalFile.ts';
import { serve } from '../served/serve.ts';
import { openPortFile, Port } from './portStream.ts';
import { createSeeder, seederSource, type Seeder } from './seeder.ts';
import { GuestTerminal } from './terminal.ts';
import { serveVsock } from './vsockPorts.ts';

/** The folder that the guest's runner serves: the VM's disk. */
export const guestHome = '/var/lib/sallyport';

const idleMs = 2 * 60 * 1000;
/** A clock that is further off is set: the computer slept, or the VM was stored. */
const clockSlackMs = 500;
const python = '/usr/bin/python3';

/**
 * The userland of a VM: serves a runner to whoever holds its ports, and switches the VM off when nobody has
 * needed it for a while. Nothing but the engine is at the other end of a port. Does not return.
 */
export async function runGuest(
  options: Omit<RunnerOptions, 'events' | 'flow'>,
  report: (text: string) => void,
): Promise<void> {
  try {
    const seeder = createSeeder(
      spawn(python, ['-I', '-S', '-c', seederSource], { stdio: ['pipe', 'pipe', 'inherit'], env: {} }),
    );
    let instance = '';
    const accept = async (line: string): Promise<string | undefined> => {
      const opening = parseOpening(line);
      if (!opening) return undefined;
      // Before anything else happens: until here this VM is the twin of every other one from the same store.
      const isSameStart =
        opening.instance === instance && Math.abs(Date.now() - opening.epochMs) < clockSlackMs;
      if (!isSameStart) await setApart(seeder, opening);
      instance = opening.instance;
      return guestAnswer(opening.token);
    };
    const terminal = new GuestTerminal({
      runner: guestHome,
      architecture: toArchitecture(options.environment.architecture),
      report,
    });
    const serving = createDeferred<(stream: Duplex) => void>();
    const served = serve(
      {
        home: guestHome,
        runner: {
          ...options,
          folderUser: guestShares.user,
          probe: (folder, interpreters) =>
            probeHere(options.environment, folder, interpreters, {
              fixedAddresses: wasTold(guestFixedAddresses),
            }),
        },
        uid: options.environment.uid,
        idleMs,
        disk: passingDisk,
        onServing: (serveStream) => serving.resolve(serveStream),
        instance: () => instance,
        isShared: isGuestShare,
        offerTerminal: (clientKey) => terminal.offer(clientKey),
      },
      new AbortController().signal,
    );
    const use = (kind: GuestPort) => (stream: Duplex) => {
      if (kind === 'terminal') void terminal.serve(stream);
      else void serving.promise.then((serveStream) => serveStream(stream));
    };
    const kinds = Object.keys(guestPorts) as GuestPort[];
    const onReady = () => report(guestReadyLine);
    const isConnectedTo = wasTold(guestVsock.parameter);
    const ports = isConnectedTo
      ? [
          serveVsock(
            kinds.map((kind) => ({ kind, accept, onStream: use(kind) })),
            { onReady },
          ),
        ]
      : kinds.map((kind) =>
          new Port({
            file: openPortFile(openSync(findPort(guestPorts[kind]), 'r+')),
            accept,
            openingBytes: guestOpeningBytes,
            wait: (ms) => wait(ms),
            onStream: use(kind),
          }).serve(),
        );
    if (!isConnectedTo) onReady();
    await Promise.race([served, ...ports]);
  } catch (error) {
    report(`the guest can't go on: ${errorMessage(error)}`);
  }
  switchOff();
}

/**
 * Gives kernel and this process randomness of their own. OpenSSL's generators reseed themselves from the kernel's when
 * the time of their last seed is long ago or still to come, so the clock is moved there and back.
 */
async function setApart(seeder: Seeder, { epochMs, entropy }: GuestOpening): Promise<void> {
  for (const at of [epochMs + dayMs, epochMs]) {
    await seeder.seed(at, entropy);
    randomBytes(16);
  }
}

const dayMs = 24 * 60 * 60 * 1000;

function parseOpening(line: string) {
  try {
    const parsed = z.safeParse(guestOpening, JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the VM was started with this word on its kernel's command line. */
function wasTold(word: string): boolean {
  return readFileSync('/proc/cmdline', 'utf8').trim().split(' ').includes(word);
}

function findPort(name: string): string {
  const folder = '/sys/class/virtio-ports';
  const found = readdirSync(folder).find(
    (each) => readFileSync(joinPath(folder, each, 'name'), 'utf8').trim() === name,
  );
  if (found === undefined) throw new Error(`there is no port ${name}`);
  return `/dev/${found}`;
}

/** At once, as the kernel does it (Documentation/admin-guide/sysrq.rst): QEMU ends with a restart. */
function switchOff(): void {
  writeFileSync('/proc/sysrq-trigger', 'b');
}
