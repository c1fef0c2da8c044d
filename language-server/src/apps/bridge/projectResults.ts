import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { BridgeError, type BridgeParams, type BridgeResult } from '../../../../protocol/src/bridge.ts';
import type { RunView } from '../../../../protocol/src/engine.ts';
import { showHidden } from '../../../../protocol/src/text.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { toContent } from '../../plugins/hostFunctions/content.ts';
import type { Projects } from '../../project/model.ts';
import type { History } from '../../runs/history.ts';

type Listed = BridgeResult<'results.list'>['projects'];

/** The latest run of each open project, for apps that a person lets read it. Nothing of it says where a project lies. */
export interface ProjectResults {
  list(): Listed;
  /** Throws `BridgeError`: `not-found`, `too-large`, `bad-params`. */
  read(wanted: BridgeParams<'results.read'>): BridgeResult<'results.read'>;
}

export interface ProjectResultsOptions {
  readonly projects: Projects;
  readonly history: Pick<History, 'list' | 'view'>;
  readonly blobs: BlobStore;
  readonly projectKey: (root: string) => string;
}

const resultBytes = 4 * 1024 * 1024;

/** Reads the latest run of each open project anew at each call; keeps nothing. */
export function createProjectResults(options: ProjectResultsOptions): ProjectResults {
  const { projects, history, blobs, projectKey } = options;
  const latest = (root: string): RunView | undefined => {
    const [run] = history.list(projectKey(root), undefined, 1).runs;
    return run && history.view(run.runId);
  };
  return {
    list: () =>
      projects.list().map(({ root, manifest }) => {
        const view = latest(root);
        return {
          project: nameOf(root),
          name: showHidden(manifest?.name ?? basename(root)).slice(0, 200),
          run: view
            ? {
                run: view.summary.runId,
                state: view.summary.state,
                startedAt: view.summary.startedAt,
                endedAt: view.summary.finishedAt,
              }
            : null,
          cards: (view?.cards ?? []).map(({ id, title, status, outputs }) => ({
            card: id,
            title: showHidden(title).slice(0, 200),
            state: status.state,
            cached: status.cached,
            tookMs: status.runMs,
            outputs: outputs.map(({ port, type, artifact }) => ({ port, type, bytes: artifact.sizeBytes })),
          })),
        };
      }),
    read: ({ project, card, port, encoding }) => {
      const found = projects.list().find(({ root }) => nameOf(root) === project);
      const output =
        found &&
        latest(found.root)
          ?.cards.find(({ id }) => id === card)
          ?.outputs.find((each) => each.port === port);
      if (!output) throw new BridgeError('not-found', 'The latest run has no such result.');
      const { artifact, type } = output;
      if (artifact.kind !== 'file') throw new BridgeError('bad-params', 'This result is a folder.');
      if (artifact.sizeBytes > resultBytes)
        throw new BridgeError('too-large', 'This result is too large to be read whole.');
      const bytes = blobs.readBytes(artifact.digest, { limitBytes: resultBytes });
      return { ...toContent(bytes, encoding), type, bytes: bytes.length };
    },
  };
}

/** The same for a project as long as it lies where it lies. */
function nameOf(root: string): string {
  return `p${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
}
