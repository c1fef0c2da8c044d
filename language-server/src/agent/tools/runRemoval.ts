import * as z from 'zod/mini';
import type { RunView } from '../../../../protocol/src/engine.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { cleanStore, measureUnused } from '../../store/cleanUp.ts';
import { about, defineTool, thing } from './defineTool.ts';
import { viewOfProject, type RunToolDeps } from './runServices.ts';
import type { Tool } from './tool.ts';

const deleteInput = z.strictObject({
  runs: about(
    'Ids of ended runs of this project that are to be forgotten, each in full.',
    z.array(z.string().check(z.regex(/^r[0-9a-f]{16}$/))).check(z.minLength(1), z.maxLength(100)),
  ),
});
const clearInput = z.strictObject({});

/** `history_delete` and `cache_clear`: they remove exactly what was measured and shown, or nothing. */
export function runRemovalTools(deps: RunToolDeps): readonly Tool[] {
  return [
    defineTool({
      name: 'history_delete',
      description: 'Forgets ended runs of this project with their logs. It can’t be undone.',
      input: deleteInput,
      list: 'perCall',
      effect: 'deleteHistory',
      async prepare({ runs }, { root }) {
        const ids = [...new Set(runs)].sort();
        return {
          args: { runs: ids },
          permissions: [],
          measure: async () => ids.map((id) => thing('run', id, measureRun(viewOfProject(deps, root, id)))),
          describe: (targets) => ({
            title: `Forget ${targets.length} ${targets.length === 1 ? 'run' : 'runs'} for good`,
            lines: targets.map(({ name, measure }) => `${name}: ${measure ?? ''}`),
            fullText: null,
          }),
          async run() {
            const { store } = deps.open();
            const removed = store.database.transaction(() =>
              ids.map((id) => {
                measureRun(viewOfProject(deps, root, id));
                const seq = store.runs.seqOf(id);
                if (seq !== undefined) store.runs.remove(seq);
                return id;
              }),
            );
            return { text: `Forgotten: ${removed.join(', ')}.`, isError: false };
          },
        };
      },
    }),
    defineTool({
      name: 'cache_clear',
      description:
        'Removes stored results that no remembered run refers to, of all projects, to free space. Cards whose results are gone run again. It can’t be undone.',
      input: clearInput,
      list: 'perCall',
      effect: 'clearCache',
      async prepare() {
        const measured = () => {
          const { store, blobs } = deps.open();
          return measureUnused(store.database, blobs);
        };
        let shown = measured();
        return {
          args: {},
          permissions: [],
          measure: async () => {
            shown = measured();
            const { blobs, bytes, digest } = shown;
            return [
              thing(
                'usage',
                'stored results without a run',
                `${blobs.size} results, ${bytes} bytes, ${digest}`,
              ),
            ];
          },
          describe: () => ({
            title: 'Remove stored results that no run refers to',
            lines: [`${shown.blobs.size} results, ${shown.bytes} bytes`],
            fullText: null,
          }),
          async run() {
            const { store, blobs } = deps.open();
            const { removedBlobs, freedBytes } = await cleanStore(store.database, blobs, {
              only: shown.blobs,
            });
            return { text: `Removed ${removedBlobs} results, ${freedBytes} bytes.`, isError: false };
          },
        };
      },
    }),
  ];
}

/** What is lost with a run. Throws `conflict` for one that still goes on. */
function measureRun({ summary, cards }: RunView): string {
  if (summary.state === 'running') {
    throw new UserError(
      'conflict',
      `Run ${summary.runId} is still going on; only ended runs are forgotten.`,
      {
        runId: summary.runId,
      },
    );
  }
  const bytes = cards.reduce((sum, { status }) => sum + status.outputBytes, 0);
  const lines = cards.reduce((sum, { logLines }) => sum + logLines, 0);
  const at = new Date(summary.startedAt).toISOString();
  return `${summary.state}, begun ${at}, ${cards.length} cards, ${bytes} bytes of results, ${lines} lines of log`;
}
