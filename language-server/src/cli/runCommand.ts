import type { CardState, CardStatus, RunView } from '../../../protocol/src/engine.ts';
import { problemLine, problemsOf } from './checkCommand.ts';
import { exitCodes, runExitCode } from './exitCodes.ts';
import type { Session } from './session.ts';
import { duration, paint, printable, table, type Colour, type Terminal } from './terminal.ts';

const marks: Readonly<Record<CardState, readonly [string, Colour]>> = {
  queued: ['·', 'dim'],
  running: ['▸', 'blue'],
  done: ['✓', 'green'],
  failed: ['✗', 'red'],
  cancelled: ['■', 'yellow'],
  skipped: ['↷', 'dim'],
  blocked: ['⊘', 'yellow'],
  unknown: ['?', 'yellow'],
};

/** Runs the project and follows it to its end. Ctrl-C cancels, and the command ends when the cards have. */
export async function runCommand(session: Session): Promise<number> {
  const { args, terminal, root } = session;
  const say = (line: string) => (args.json ? terminal.note(line) : terminal.out(line));
  session.warmUp();
  const errors = problemsOf(session.project()).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    for (const each of errors) terminal.note(problemLine(each, root, terminal));
    if (args.json) terminal.out(JSON.stringify({ run: null, cards: [], problems: errors }));
    return exitCodes.badProject;
  }
  const ids = new Map<string, CardState>();
  const width = Math.max(4, ...[...session.project().cards.keys()].map((id) => id.length));
  session.on('run/delta', ({ cards }) => {
    for (const { id, status } of cards) {
      if (status.cached || status.state === 'queued' || ids.get(id) === status.state) continue;
      ids.set(id, status.state);
      say(progressLine(id.padEnd(width), status, terminal));
    }
  });
  session.on('engine/notice', ({ message }) => terminal.note(printable(message)));
  const { runId } = await session.call('run/start', {
    root,
    ...(args.cards.length > 0 ? { cards: [...args.cards] } : {}),
    ignoreCache: args.ignoreCache,
  });
  const cancel = () => {
    terminal.note('Cancelling: waiting until every card has ended.');
    void session.call('run/cancel', { runId });
  };
  if (session.interrupted.aborted) cancel();
  else session.interrupted.addEventListener('abort', cancel, { once: true });
  await session.whenFinished(runId);
  const view = await session.call('run/get', { runId });
  const statuses = view.cards.map(({ status }) => status);
  const code = runExitCode(statuses, session.interrupted.aborted);
  if (args.json) terminal.out(JSON.stringify(toReport(view)));
  else {
    say(summaryLine(view, terminal));
    for (const line of await lastWords(session, view)) terminal.note(line);
  }
  if (code === exitCodes.permissionNeeded || statuses.some(({ state }) => state === 'blocked')) {
    for (const line of neededPermissions(view)) terminal.note(line);
  }
  return code;
}

/** The ends of the logs of cards that failed, which say most about why. */
async function lastWords(session: Session, { cards }: RunView): Promise<string[]> {
  const failed = cards.filter(({ status, logLines }) => status.state === 'failed' && logLines > 0);
  const parts = failed.slice(0, shownLogs).map(async ({ id, status: { cardRunId }, logLines }) => {
    const fromLine = Math.max(0, logLines - shownLines);
    const { lines } = await session.call('log/read', { cardRunId, fromLine, count: shownLines });
    return [`Log of ${id}:`, ...lines.map(({ text }) => `  ${printable(text.slice(0, shownCharacters))}`)];
  });
  return (await Promise.all(parts)).flat();
}

const shownLogs = 5;
const shownLines = 5;
const shownCharacters = 200;

/** The one object that `run --json` ends with. */
function toReport(view: RunView) {
  return {
    run: view.summary.runId,
    cards: view.cards.map(({ id, status }) => ({
      id,
      state: status.state,
      cached: status.cached,
      isolation: status.isolation,
      reason: status.reason,
      exitCode: status.exitCode,
      runMs: status.runMs,
      waitMs: status.waitMs,
    })),
  };
}

/** One line for each card, side by side. */
export function cardLines(view: RunView, terminal: Terminal): string[] {
  const rows = view.cards.map(({ id, status }) => [
    marks[status.state][0],
    id,
    status.cached ? 'cached' : status.state,
    duration(status.runMs),
    reasonText(status),
  ]);
  return table(rows, (cell, row, column) => {
    const state = view.cards[row]?.status.state ?? 'unknown';
    return column === 0 || column === 2 ? paint(terminal, marks[state][1], cell) : cell;
  });
}

function progressLine(id: string, status: CardStatus, terminal: Terminal): string {
  const [mark, colour] = marks[status.state];
  const facts = [status.state.padEnd(9), duration(status.runMs), reasonText(status)].filter(
    (fact) => fact !== '',
  );
  return `  ${paint(terminal, colour, mark)} ${id}  ${facts.join('  ')}`.trimEnd();
}

function reasonText({ reason }: CardStatus): string {
  if (!reason) return '';
  const detail = reason.detail.trim().replace(/\s*\n\s*/g, ' ');
  return printable(reason.remedy === undefined ? detail : `${detail.replace(/\.$/, '')}. ${reason.remedy}`);
}

function summaryLine({ summary, cards }: RunView, terminal: Terminal): string {
  const counts = Object.entries(summary.counts).map(([state, count]) => `${count} ${state}`);
  const cached = summary.cachedCards > 0 ? ` (${summary.cachedCards} from the cache)` : '';
  const colour = summary.state === 'done' && !summary.counts['blocked'] ? 'green' : 'yellow';
  const took = duration((summary.finishedAt ?? summary.startedAt) - summary.startedAt);
  return `${paint(terminal, colour, `${cards.length} cards: ${counts.join(', ')}${cached}`)}  ${took}`;
}

function neededPermissions(view: RunView): string[] {
  return view.cards.flatMap(({ id, status }) =>
    status.state === 'blocked' && status.reason
      ? [`Permission needed: ${id}: ${printable(status.reason.detail)}`]
      : [],
  );
}
