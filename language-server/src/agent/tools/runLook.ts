import { closeSync, openSync, readSync } from 'node:fs';
import * as z from 'zod/mini';
import { tree, type ArtifactRef } from '../../../../protocol/src/artifacts.ts';
import type { CardRunView } from '../../../../protocol/src/engine.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { about, defineTool, thing } from './defineTool.ts';
import { chooseRun, viewOfProject, type RunToolDeps } from './runServices.ts';
import { tellRun } from './tellRun.ts';
import type { CallContext, PreparedCall, Tool } from './tool.ts';

const runId = z.optional(
  about('A run’s id; the latest run of the project where left out.', z.string().check(z.maxLength(40))),
);
const statusInput = z.strictObject({ runId });
const readInput = z.strictObject({
  runId,
  card: about('The card’s id.', z.string().check(z.minLength(1), z.maxLength(64))),
  what: about(
    '`log` for what it printed, else the name of one of its outputs.',
    z.string().check(z.maxLength(64)),
  ),
});

/** `run_status` and `run_read`: looks at runs of this project. */
export function runLookTools(deps: RunToolDeps): readonly Tool[] {
  return [
    defineTool({
      name: 'run_status',
      description:
        'Tells how the cards of a run stand or ended: state, exit code, reason, times. Changes nothing.',
      input: statusInput,
      list: 'ordinary',
      effect: 'read',
      async prepare({ runId: asked }, context) {
        const id = chooseRun(deps, context.root, asked);
        return looking(id, { runId: id }, `Look at run ${id}`, () => ({
          text: tellRun(viewOfProject(deps, context.root, id), deps.review(context.root)),
          isError: false,
          runId: id,
        }));
      },
    }),
    defineTool({
      name: 'run_read',
      description:
        'Returns what a card of a run printed (its beginning and its end), or one of its outputs as bounded text: the head of a table, the list of a folder. Changes nothing.',
      input: readInput,
      list: 'ordinary',
      effect: 'read',
      async prepare({ runId: asked, card, what }, context) {
        const id = chooseRun(deps, context.root, asked);
        return looking(id, { runId: id, card, what }, `Read ${what} of ${card} in run ${id}`, () => ({
          text: readPart(deps, context, id, card, what),
          isError: false,
          runId: id,
        }));
      },
    }),
  ];
}

function looking(
  id: string,
  args: Readonly<Record<string, string>>,
  title: string,
  look: () => Awaited<ReturnType<PreparedCall['run']>>,
): PreparedCall {
  return {
    args: { ...args },
    permissions: [],
    measure: async () => [thing('run', id, null)],
    describe: () => ({ title, lines: [], fullText: null }),
    run: async () => look(),
  };
}

function readPart(deps: RunToolDeps, { root }: CallContext, id: string, card: string, what: string): string {
  const view = viewOfProject(deps, root, id).cards.find((each) => each.id === card);
  if (!view) throw new UserError('not-found', `The card ${card} was no part of run ${id}`, { card });
  if (what === 'log') return readLog(deps, view);
  const output = view.outputs.find(({ port }) => port === what);
  if (!output) {
    const ports = view.outputs.map(({ port }) => port).join(', ') || 'none';
    throw new UserError('not-found', `${card} has no output ${what} in run ${id}. Outputs: ${ports}`, {
      card,
    });
  }
  return `${card}/${what} (${output.type}):\n${readArtifact(deps.open().blobs, output.artifact)}`;
}

const headLines = 200;
const tailLines = 600;

function readLog(deps: RunToolDeps, { status, logLines }: CardRunView): string {
  const { history } = deps.open();
  if (logLines === 0) return 'It printed nothing.';
  const first = history.log(status.cardRunId, 0, headLines);
  const from = Math.max(first.lines.length, logLines - tailLines);
  const last = from < logLines ? history.log(status.cardRunId, from, tailLines).lines : [];
  const left = from - first.lines.length;
  return [
    ...first.lines.map(tellLine),
    ...(left > 0 ? [`[… ${left} lines left out …]`] : []),
    ...last.map(tellLine),
    ...(first.cutBytes > 0
      ? [`[${first.cutBytes} bytes were printed beyond the card’s log limit and not kept]`]
      : []),
  ].join('\n');
}

function tellLine({ stream, text, cutBytes }: { stream: string; text: string; cutBytes: number }): string {
  return `${stream === 'stderr' ? 'stderr: ' : ''}${text}${cutBytes > 0 ? ` [… ${cutBytes} bytes]` : ''}`;
}

const shownBytes = 32 * 1024;

function readArtifact(blobs: BlobStore, artifact: ArtifactRef): string {
  if (!blobs.has(artifact.digest))
    return 'It was removed from the store. Run the card again to make it anew.';
  if (artifact.kind === 'directory') {
    const { entries } = tree.parse(JSON.parse(blobs.readBytes(artifact.digest).toString('utf8')));
    const shown = entries
      .slice(0, 500)
      .map((entry) =>
        entry.kind === 'file' ? `${entry.path} (${entry.sizeBytes} bytes)` : `${entry.path}/`,
      );
    const left = entries.length - shown.length;
    return [...shown, ...(left > 0 ? [`[… ${left} entries left out …]`] : [])].join('\n');
  }
  const head = readHead(blobs.pathOf(artifact.digest), shownBytes);
  if (head.includes(0)) return `${artifact.sizeBytes} bytes that are no text; not shown.`;
  const left = artifact.sizeBytes - head.length;
  const text = new TextDecoder('utf-8').decode(head, { stream: left > 0 });
  return left > 0 ? `${text}\n[… ${left} of ${artifact.sizeBytes} bytes left out …]` : text;
}

function readHead(path: string, bytes: number): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, 0));
  } finally {
    closeSync(descriptor);
  }
}
