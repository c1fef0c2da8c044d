import type { PlaceView } from '../../../protocol/src/places.ts';
import type { Session } from './session.ts';
import { exitCodes } from './exitCodes.ts';
import { cardLines } from './runCommand.ts';
import { duration, paint, printable, size, table } from './terminal.ts';

/** Commands that only look. */

export async function dryRunCommand(session: Session): Promise<number> {
  const { args, terminal, root } = session;
  session.project();
  const { cards } = await session.call('run/dryRun', {
    root,
    ...(args.cards.length > 0 ? { cards: [...args.cards] } : {}),
  });
  if (args.json) terminal.out(JSON.stringify({ cards }));
  else {
    const rows = cards.map(({ id, action, why, reason }) => [
      id,
      action,
      printable(reason?.detail ?? why.map(({ part, detail }) => `${part}: ${detail}`).join('; ')),
    ]);
    for (const line of table(rows)) terminal.out(line);
  }
  return exitCodes.done;
}

/** The runs of a project, or the cards of the run that is named. Resolves to the exit code. */
export async function historyCommand(session: Session): Promise<number> {
  const { args, terminal, root } = session;
  const runId = args.operands[1];
  if (runId !== undefined) {
    const view = await session.call('run/get', { runId });
    if (args.json) terminal.out(JSON.stringify(view));
    else for (const line of cardLines(view, terminal)) terminal.out(line);
    return exitCodes.done;
  }
  session.project();
  const { runs } = await session.call('run/list', { root, limit: historyLength });
  if (args.json) terminal.out(JSON.stringify({ runs }));
  else if (runs.length === 0) terminal.out('No runs yet.');
  else {
    const rows = runs.map((run) => [
      run.runId,
      new Date(run.startedAt).toISOString().slice(0, 19).replace('T', ' '),
      run.state,
      run.finishedAt === null ? '' : duration(run.finishedAt - run.startedAt),
      Object.entries(run.counts)
        .map(([state, count]) => `${count} ${state}`)
        .join(', '),
    ]);
    for (const line of table(rows)) terminal.out(line);
  }
  return exitCodes.done;
}

/** Why a card ran the last time it did. Resolves to the exit code. */
export async function whyCommand(session: Session): Promise<number> {
  const { args, terminal, root } = session;
  const card = args.operands[1] ?? '';
  session.project();
  const { runs } = await session.call('run/list', { root, limit: historyLength });
  for (const { runId } of runs) {
    const found = await session.call('run/get', { runId });
    const status = found.cards.find(({ id }) => id === card)?.status;
    if (!status) continue;
    const { changes } = await session.call('run/why', { runId, card });
    if (args.json)
      terminal.out(JSON.stringify({ run: runId, card, state: status.state, cached: status.cached, changes }));
    else if (changes.length === 0) {
      terminal.out(
        status.cached
          ? 'It came from the cache: nothing it depends on had changed.'
          : `It was ${status.state}.`,
      );
    } else for (const { part, detail } of changes) terminal.out(`${part}: ${printable(detail)}`);
    return exitCodes.done;
  }
  terminal.note(`“${printable(card)}” has not run yet.`);
  return exitCodes.badProject;
}

/** Isolation, interpreters and places here, and what of them is missing. Resolves to the exit code. */
export async function doctorCommand(session: Session): Promise<number> {
  const { args, terminal } = session;
  const report = await session.call('doctor/report', {});
  const accepted = await acceptedPlaces(session);
  const places: PlaceView[] = [];
  for (const place of await session.call('place/list', {})) {
    places.push(
      accepted.has(place.id)
        ? await session.call('place/check', { place: place.id })
        : { ...place, detail: 'no person accepted that a card runs there, so it was not connected to' },
    );
  }
  if (args.json) terminal.out(JSON.stringify({ ...report, places }));
  else {
    const { isolation, interpreters, checks, home, node } = report;
    terminal.out(`Isolation    ${isolation.kind} ${isolation.version}`.trimEnd());
    terminal.out(`Limits       ${isolation.limits}`);
    for (const { runtime, path, version } of interpreters) {
      terminal.out(`${runtime.padEnd(11)}  ${printable(`${version}  ${path}`)}`);
    }
    terminal.out(`State        ${printable(home)}`);
    terminal.out(`Engine       Node ${node}`);
    for (const { title, ok, detail, remedy } of [...isolation.checks, ...checks]) {
      const mark = ok ? paint(terminal, 'green', '✓') : paint(terminal, 'red', '✗');
      terminal.out(`${mark} ${printable(title)}  ${printable(detail)}`);
      if (remedy !== undefined) terminal.out(`  → ${printable(remedy)}`);
    }
    for (const place of places) {
      const isUsable =
        place.state === 'ready' && place.facts !== null && place.facts.isolation.kind !== 'none';
      const mark = isUsable ? paint(terminal, 'green', '✓') : paint(terminal, 'red', '✗');
      terminal.out(`${mark} ${printable(place.id)}  ${printable(placeFacts(place))}`);
      if (!isUsable && place.remedy !== '') terminal.out(`  → ${printable(place.remedy)}`);
    }
  }
  return report.isolation.kind === 'none' ? exitCodes.isolationMissing : exitCodes.done;
}

/** The places where a person accepted that a card of the project runs: nothing else is connected to. */
async function acceptedPlaces(session: Session): Promise<ReadonlySet<string>> {
  const projects = await session.call('project/list', {});
  return new Set(
    projects
      .flatMap(({ cards }) => cards.flatMap(({ permissions }) => permissions))
      .flatMap(({ permission, accepted }) =>
        accepted && permission.name === 'execution' ? permission.service : [],
      ),
  );
}

/** Shows what is stored first, and removes only what a person agreed to. */
export async function cleanCommand(session: Session): Promise<number> {
  const { args, terminal } = session;
  const usage = await session.call('store/usage', {});
  const say = (line: string) => (args.json ? terminal.note(line) : terminal.out(line));
  say(
    `Results      ${size(usage.blobBytes)} in ${usage.blobCount} files (at most ${size(usage.limitBytes)})`,
  );
  say(`Unused       ${size(usage.unusedBytes)}`);
  say(`History      ${usage.runs} runs, ${size(usage.databaseBytes)}`);
  const older = args.olderThanDays;
  const what =
    older === undefined
      ? 'Remove what no run needs'
      : `Forget runs older than ${older} days and remove what no run needs then`;
  const agreed =
    args.yes || (terminal.isInteractive && /^y(es)?$/i.test((await terminal.ask(`${what}? [y/N] `)).trim()));
  if (!agreed) {
    if (!terminal.isInteractive)
      terminal.note('Nothing was removed. Add --yes to remove without being asked.');
    if (args.json) terminal.out(JSON.stringify({ usage, removed: null }));
    return exitCodes.done;
  }
  const removed = await session.call('store/clean', older === undefined ? {} : { runsOlderThanDays: older });
  if (args.json) terminal.out(JSON.stringify({ usage, removed }));
  else
    say(
      `Removed ${removed.removedRuns} runs and ${removed.removedBlobs} files: ${size(removed.freedBytes)} freed.`,
    );
  return exitCodes.done;
}

const historyLength = 50;

function placeFacts({ state, detail, facts, latencyMs }: PlaceView): string {
  if (state !== 'ready' || !facts) return detail === '' ? state : `${state}: ${detail}`;
  const { isolation, node, parallel, freeBytes } = facts;
  const failed = isolation.checks.filter(({ ok }) => !ok).map((check) => `${check.title}: ${check.detail}`);
  const sealed = isolation.kind === 'none' ? `can’t seal a card (${failed.join('; ')})` : isolation.kind;
  const answers = latencyMs === null ? '' : `, answers in ${duration(latencyMs)}`;
  return `${sealed}, Node ${node}, ${parallel} at once, ${size(freeBytes)} free${answers}`;
}
