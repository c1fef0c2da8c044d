import { randomBytes } from 'node:crypto';
import type { RequestHandlers } from '../../../../protocol/src/contract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { terminalRequests } from '../../../../protocol/src/placeTerminal.ts';
import type { PlaceRunner } from '../places/placeRunner.ts';
import { Terminals } from './terminals.ts';

export interface TerminalHandlerOptions {
  /** The place `vm`. */
  readonly place: () => PlaceRunner;
  /** Names the project whose VM it is, by its folder. Throws `no-project`. */
  readonly projectKey: (root: string) => string;
  readonly isTrusted: () => boolean;
}

export interface TerminalService {
  readonly handlers: RequestHandlers<typeof terminalRequests>;
  /** Throws `conflict` while a terminal is open: its VM is in use. */
  assertNone(): void;
  dispose(): void;
}

/** Answers the person's side about terminals. What a terminal needs is read when the first one is opened. */
export function createTerminals({ place, projectKey, isTrusted }: TerminalHandlerOptions): TerminalService {
  const terminals = new Terminals({
    connect: async (vm, signal) => {
      const { openTerminalConnection } = await import('./terminalConnection.ts');
      return openTerminalConnection(place(), vm, signal);
    },
    createId: () => randomBytes(12).toString('hex'),
    setTimer: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
  return {
    handlers: {
      'place/terminalOpen': async ({ root, network, ...size }, signal) => {
        if (!isTrusted())
          throw new UserError('not-trusted', 'This folder is in Restricted Mode: no VM is started for it');
        return { terminal: await terminals.open({ project: projectKey(root), network }, size, signal) };
      },
      'place/terminalRead': ({ terminal }, signal) => terminals.read(terminal, signal),
      'place/terminalWrite': async ({ terminal, text }) => {
        await terminals.write(terminal, text);
        return {};
      },
      'place/terminalResize': ({ terminal, ...size }) => {
        terminals.resize(terminal, size);
        return {};
      },
      'place/terminalClose': ({ terminal }) => {
        terminals.close(terminal);
        return {};
      },
    },
    assertNone: () => {
      if (terminals.count > 0) throw new UserError('conflict', 'A terminal is open in a VM. Close it first.');
    },
    dispose: () => terminals.dispose(),
  };
}
