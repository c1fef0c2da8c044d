import type { Channel } from '../../../protocol/src/channel.ts';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import type { LogLine } from '../../../protocol/src/engine.ts';
import type { PictureFormat, libraryNames, runHost, runWebview } from '../../../protocol/src/webview.ts';
import type { LogRequest } from './logPages.ts';

export type RunChannel = Channel<typeof runWebview, typeof runHost>;
export type Output = ResultOf<(typeof runHost)['requests']['run/readOutput']>;
type LibraryName = (typeof libraryNames)[number];

/** What the run view asks of the extension. Everything rejects with `UserError`. */
export interface RunClient {
  readLog(cardRunId: string, request: LogRequest): Promise<{ lines: LogLine[]; totalLines: number }>;
  readOutput(card: string, port: string): Promise<Output>;
  /** Kept for the life of the page: libraries do not change. */
  library(name: LibraryName): Promise<string>;
  openOutput(card: string, port: string): Promise<unknown>;
  openPage(card: string, port: string): Promise<unknown>;
  savePicture(name: string, format: PictureFormat, base64: string): Promise<boolean>;
  why(card: string): Promise<readonly string[]>;
  cancel(): Promise<unknown>;
  again(): Promise<unknown>;
  openEgressLog(): Promise<unknown>;
}

export function createRunClient(channel: RunChannel): RunClient {
  const libraries = new Map<LibraryName, Promise<string>>();
  return {
    readLog: (cardRunId, request) => channel.call('run/readLog', { cardRunId, ...request }),
    readOutput: (card, port) => channel.call('run/readOutput', { card, port }),
    library: (name) => {
      const known = libraries.get(name);
      if (known) return known;
      const source = channel.call('run/readLibrary', { name }).then(({ text }) => text);
      libraries.set(name, source);
      source.catch(() => libraries.delete(name));
      return source;
    },
    openOutput: (card, port) => channel.call('run/openOutput', { card, port }),
    openPage: (card, port) => channel.call('run/openPage', { card, port }),
    savePicture: async (name, format, base64) =>
      (await channel.call('run/savePicture', { name, format, base64 })).saved,
    why: async (card) => (await channel.call('run/why', { card })).lines,
    cancel: () => channel.call('run/cancel', {}),
    again: () => channel.call('run/again', {}),
    openEgressLog: () => channel.call('run/openEgressLog', {}),
  };
}
