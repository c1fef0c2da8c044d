import { readFile, stat } from 'node:fs/promises';
import type { CardRunView } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { PortType } from '../../../protocol/src/manifests.ts';
import type { Engine } from '../engine.ts';

export type OutputRef = CardRunView['outputs'][number];

/** The largest output that is shown in a webview; larger ones are opened as files. */
export const shownBytes = 32 * 1024 * 1024;

/** The output that a page asked for. Throws `not-found`: a page can name only what its run has. */
export function findOutput(cards: readonly CardRunView[], card: string, port: string): OutputRef {
  const output = cards.find((each) => each.id === card)?.outputs.find((each) => each.port === port);
  if (!output) throw new UserError('not-found', `There is no output ${card}/${port}`, { card, port });
  return output;
}

/** The bytes of an output; of a directory its listing. Throws `too-large` above `shownBytes`. */
export async function readOutput(engine: Engine, output: OutputRef): Promise<Buffer> {
  const { path } = await engine.call('artifact/locate', { digest: output.artifact.digest });
  const { size } = await stat(path);
  if (size > shownBytes) {
    throw new UserError('too-large', `${output.port} has ${size} bytes`, {
      port: output.port,
      sizeBytes: size,
      limitBytes: shownBytes,
    });
  }
  return readFile(path);
}

/** The end of a file name for a type, so that VS Code picks an editor that fits. A `file` has none to claim. */
export function extensionOf(type: PortType): string {
  const endings: Record<PortType, string> = {
    json: '.json',
    text: '.txt',
    table: '.csv',
    file: '',
    directory: '.json',
    image: '.png',
    html: '.html',
    'vega-lite': '.vl.json',
    plotly: '.json',
  };
  return endings[type];
}
