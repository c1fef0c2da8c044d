import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AppReview, AppSource, AppView } from '../../../protocol/src/apps.ts';
import { exitCodes } from './exitCodes.ts';
import { UsageError, usages } from './arguments.ts';
import { reviewLines } from './appReviewLines.ts';
import type { Session } from './session.ts';
import { printable, size, table } from './terminal.ts';

const progressId = 'cli';

/**
 * `sallyport app …`. Installing has two steps: the review is printed with its digest, and the same command with
 * `--accept DIGEST` installs exactly what has that digest.
 */
export async function appCommand(session: Session): Promise<number> {
  const { args, terminal } = session;
  const [verb = '', first = '', second = ''] = args.operands;
  session.on('app/progress', ({ text }) => terminal.note(printable(text)));
  session.on('engine/notice', ({ message }) => terminal.note(printable(message)));
  const counts: Readonly<Record<string, number>> = {
    list: 1,
    review: 2,
    install: 2,
    update: 2,
    delete: 2,
    export: 3,
  };
  if (counts[verb] !== args.operands.length) throw new UsageError(`Usage: ${usages.app}`);
  switch (verb) {
    case 'list':
      return list(session);
    case 'review': {
      const review = await session.call('app/stage', { source: sourceOf(first, args.ref), progressId });
      await session.call('app/discard', { stageId: review.stageId });
      return show(session, review);
    }
    case 'install':
      return accept(
        session,
        await session.call('app/stage', { source: sourceOf(first, args.ref), progressId }),
      );
    case 'update':
      return update(session, first);
    case 'delete':
      return remove(session, first);
    default: {
      const { sizeBytes } = await session.call('app/export', {
        app: first,
        path: resolve(second),
        progressId,
      });
      answer(session, { sizeBytes }, [
        `Wrote ${printable(second)} (${size(sizeBytes)}). It holds what the app stored.`,
      ]);
      return exitCodes.done;
    }
  }
}

async function list(session: Session): Promise<number> {
  const apps = await session.call('app/list', {});
  const rows = apps.map((app) => [
    app.id,
    app.appVersion,
    printable(app.name),
    size(app.dataBytes),
    noteOf(app),
  ]);
  answer(session, apps, apps.length === 0 ? ['No app is installed.'] : table(rows));
  return exitCodes.done;
}

function noteOf({ waiting, isOfficial }: AppView): string {
  if (waiting) return `version ${waiting.appVersion} waits for a review`;
  return isOfficial ? 'official' : '';
}

async function update(session: Session, app: string): Promise<number> {
  const found = await session.call('app/update', { app, progressId });
  if (found.kind === 'waits') return accept(session, found.review);
  const text = found.kind === 'none' ? 'It is up to date.' : found.text;
  answer(session, found, [printable(text)]);
  return exitCodes.done;
}

/** Installs where the digest that a person gave is that of the review; else shows the review. */
async function accept(session: Session, review: AppReview): Promise<number> {
  const { args } = session;
  if (args.accept !== review.digest) {
    if (args.accept !== undefined)
      session.terminal.note('This is not what was reviewed. Nothing was installed. Read the review again:');
    if (args.operands[0] === 'install') await session.call('app/discard', { stageId: review.stageId });
    return show(session, review);
  }
  const { stageId, digest } = review;
  const view = await session.call('app/install', { stageId, digest, progressId });
  answer(session, view, [`Installed ${view.id} ${view.appVersion}.`]);
  return exitCodes.done;
}

function show(session: Session, review: AppReview): number {
  const { args } = session;
  answer(session, review, [
    ...reviewLines(review, session.terminal),
    ...(args.operands[0] === 'review'
      ? [`Digest: ${review.digest}`]
      : [`To install exactly this, give the same command with --accept ${review.digest}`]),
  ]);
  return args.operands[0] === 'review' ? exitCodes.done : exitCodes.permissionNeeded;
}

async function remove(session: Session, app: string): Promise<number> {
  const { args, terminal } = session;
  if (!args.yes) {
    terminal.note(`Nothing was deleted. Give --yes to delete ${printable(app)} with all that it stored.`);
    return exitCodes.permissionNeeded;
  }
  const { until } = await session.call('app/delete', { app });
  const date = new Date(until).toISOString().slice(0, 10);
  answer(session, { until }, [`Deleted. It can be brought back in VS Code until ${date}.`]);
  return exitCodes.done;
}

function answer({ args, terminal }: Session, value: unknown, lines: readonly string[]): void {
  if (args.json) terminal.out(JSON.stringify(value));
  else for (const line of lines) terminal.out(line);
}

/** A repository by its scheme, a folder, a `.zip`, or any other file as a backup. */
function sourceOf(text: string, ref: string | undefined): AppSource {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text))
    return { kind: 'git', url: text, ...(ref !== undefined && { ref }) };
  if (ref !== undefined) throw new UsageError('--ref is for a repository.');
  const path = resolve(text);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return { kind: 'folder', path };
  return { kind: path.toLowerCase().endsWith('.zip') ? 'zip' : 'backup', path };
}
