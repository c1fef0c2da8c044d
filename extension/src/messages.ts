import { l10n } from 'vscode';
import type { CardState, KeyPartChange, PlannedCard, Reason, RunState } from '../../protocol/src/engine.ts';
import { UserError } from '../../protocol/src/errors.ts';
import type { IsolationReport } from '../../protocol/src/runner.ts';
import type { CommandId } from './commandIds.ts';
import { plain, short } from './plainText.ts';

/**
 * Every text that the extension shows: what failed, the value, what to do; at most one action. Values from a project
 * pass `plain` here, so no caller has to think of it. `test/unit/extension/messages.test.ts` renders them all.
 */
export interface Notice {
  readonly severity: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly action?: Action;
}

/** One button: its words and the command it runs, one of ours or one of VS Code's. */
export interface Action {
  readonly title: string;
  readonly command: CommandId | 'workbench.trust.manage' | 'workbench.actions.view.problems';
  readonly args?: readonly unknown[];
}

const t = l10n.t;

const actions = {
  showLog: (): Action => ({ title: t('Show Log'), command: 'sallyport.showLog' }),
  restart: (): Action => ({ title: t('Restart Engine'), command: 'sallyport.restartEngine' }),
  doctor: (): Action => ({ title: t('Run Doctor'), command: 'sallyport.doctor' }),
  trust: (): Action => ({ title: t('Manage Trust'), command: 'workbench.trust.manage' }),
  problems: (): Action => ({ title: t('Show Problems'), command: 'workbench.actions.view.problems' }),
  newProject: (): Action => ({ title: t('New Project'), command: 'sallyport.newProject' }),
  cleanUp: (): Action => ({ title: t('Clean Up Results'), command: 'sallyport.cleanUp' }),
  review: (root: string): Action => ({
    title: t('Review'),
    command: 'sallyport.reviewPermissions',
    args: [root],
  }),
  reviewAgain: (root: string): Action => ({
    title: t('Review Again'),
    command: 'sallyport.reviewPermissions',
    args: [root],
  }),
  openRun: (runId: string): Action => ({ title: t('Open Run'), command: 'sallyport.openRun', args: [runId] }),
};

/** Why a command does nothing here, and what happened, as notifications. */
export const notices = {
  noProject: (): Notice => ({
    severity: 'info',
    text: t('No Sallyport project is open: no folder of this window has a sallyport.json at its top.'),
    action: actions.newProject(),
  }),
  notTrusted: (): Notice => ({
    severity: 'warning',
    text: t(
      'This folder is in Restricted Mode, so nothing in it runs. Trust it first if you know where it is from.',
    ),
    action: actions.trust(),
  }),
  nothingRunning: (): Notice => ({
    severity: 'info',
    text: t('Nothing is running, so there is nothing to cancel.'),
  }),
  noCards: (project: string): Notice => ({
    severity: 'info',
    text: t(
      'The project {0} has no cards. Add a folder with a _card.json where its sallyport.json looks for cards.',
      plain(project),
    ),
  }),
  cardHasNotRun: (card: string): Notice => ({
    severity: 'info',
    text: t('{0} has not run yet, so there is nothing to explain.', short(card)),
  }),
  noCode: (card: string): Notice => ({
    severity: 'info',
    text: t('{0} runs a command and has no code of its own. Its manifest names the command.', short(card)),
  }),
  unknownCard: (card: string): Notice => ({
    severity: 'warning',
    text: t('There is no card {0} in the open projects.', short(card)),
  }),
  nothingToReview: (project: string): Notice => ({
    severity: 'info',
    text: t(
      'The cards of {0} ask for nothing beyond the default: no network, no keys, no files but their inputs.',
      plain(project),
    ),
  }),
  noPersistentScope: (root: string): Notice => ({
    severity: 'warning',
    text: t(
      'The file system of {0} keeps no birth times, so permissions can’t be bound to this folder and none is accepted. Move the project to a local disk.',
      plain(root),
    ),
  }),
  permissionsWaiting: (project: string, root: string, count: number): Notice => ({
    severity: 'warning',
    text:
      count === 1
        ? t('{0} asks for one permission. The card that asks stays blocked until you decide.', plain(project))
        : t(
            '{0} asks for {1} permissions. The cards that ask stay blocked until you decide.',
            plain(project),
            count,
          ),
    action: actions.review(root),
  }),
  permissionsAccepted: (count: number): Notice => ({
    severity: 'info',
    text: count === 1 ? t('One permission accepted.') : t('{0} permissions accepted.', count),
  }),
  nothingAccepted: (): Notice => ({
    severity: 'info',
    text: t('Nothing was selected, so nothing was accepted.'),
  }),
  reviewChanged: (root: string): Notice => ({
    severity: 'warning',
    text: t('The permissions changed while you were reading them. Nothing was accepted.'),
    action: actions.reviewAgain(root),
  }),
  nothingToRevoke: (project: string): Notice => ({
    severity: 'info',
    text: t('No permission of {0} is accepted, so there is nothing to revoke.', plain(project)),
  }),
  permissionRevoked: (card: string): Notice => ({
    severity: 'info',
    text: t('Revoked. {0} is blocked until you accept the permission again.', short(card)),
  }),
  runFailed: (runId: string, cards: readonly string[]): Notice => ({
    severity: 'error',
    text:
      cards.length === 1
        ? t('The card {0} failed.', short(cards[0] ?? ''))
        : t('{0} cards failed: {1}.', cards.length, listed(cards)),
    action: actions.openRun(runId),
  }),
  runBlocked: (root: string, cards: readonly string[]): Notice => ({
    severity: 'warning',
    text:
      cards.length === 1
        ? t(
            'The card {0} did not run: it asks for a permission that you have not accepted.',
            short(cards[0] ?? ''),
          )
        : t(
            '{0} cards did not run, because they ask for permissions that you have not accepted: {1}.',
            cards.length,
            listed(cards),
          ),
    action: actions.review(root),
  }),
  runUnknown: (runId: string): Notice => ({
    severity: 'warning',
    text: t('How the run ended was not seen: the engine stopped during it. Finished cards are kept.'),
    action: actions.openRun(runId),
  }),
  engineGaveUp: (times: number, minutes: number): Notice => ({
    severity: 'error',
    text: t(
      'Sallyport’s engine stopped {0} times in {1} minutes and was not started again. Finished results are kept.',
      times,
      minutes,
    ),
    action: actions.restart(),
  }),
  engineNotice: (text: string): Notice => ({
    severity: 'warning',
    text: plain(text),
    action: actions.showLog(),
  }),
  engineRestarted: (): Notice => ({ severity: 'info', text: t('Sallyport’s engine was started again.') }),
  cleaned: (results: number, freed: string): Notice => ({
    severity: 'info',
    text:
      results === 1
        ? t('Removed one result and freed {0}.', freed)
        : t('Removed {0} results and freed {1}.', results, freed),
  }),
  nothingToClean: (used: string): Notice => ({
    severity: 'info',
    text: t('Results use {0} and kept runs need all of it, so there is nothing to clean up.', used),
  }),
  folderNotEmpty: (folder: string): Notice => ({
    severity: 'warning',
    text: t(
      '{0} is not empty. A project is started in an empty folder, so that nothing of yours is overwritten.',
      plain(folder),
    ),
  }),
  notLocal: (folder: string): Notice => ({
    severity: 'warning',
    text: t(
      '{0} is not on a disk of this machine, so cards can’t run there. Choose a local folder.',
      plain(folder),
    ),
  }),
};

/** What a person is asked to choose, as placeholders and titles of pick lists. */
export const choose = {
  project: (): string => t('Choose a project'),
  card: (): string => t('Choose a card'),
  run: (): string => t('Choose a run'),
  reviewTitle: (root: string): string => t('Permissions for {0}', plain(root)),
  review: (): string => t('Select what you allow. The rest stays closed.'),
  readFirst: (): string =>
    t(
      'Some selected lines are longer than this list shows: read their whole text first (the book at their right).',
    ),
  wholeText: (): string => t('Read the whole text'),
  isNew: (): string => t('asked for'),
  isAccepted: (): string => t('accepted before'),
  acceptedBefore: (): string => t('Accepted before – Revoke Permission closes it again'),
  hiddenCharacters: (): string => t('contains invisible characters, shown escaped'),
  revokeTitle: (root: string): string => t('Revoke a permission of {0}', plain(root)),
  revoke: (): string => t('The card is blocked until you accept it again'),
  newProjectFolder: (): string => t('Start Project Here'),
};

/** Questions that stop everything else until they are answered: sentence, detail, the one button besides Cancel. */
export const questions = {
  newProject: (folder: string, files: readonly string[]) => ({
    text: t('Start a Sallyport project in {0}?', plain(folder)),
    detail: t('These files are written: {0}', files.join(', ')),
    button: t('Start Project'),
  }),
  cleanUp: (unused: string, used: string, runs: number) => ({
    text: t('Free {0} of results that no kept run refers to?', unused),
    detail:
      runs === 1
        ? t(
            'Results and records use {0}; one run is kept. Results of kept runs stay. What is removed can’t be brought back, but cards can run again.',
            used,
          )
        : t(
            'Results and records use {0}; {1} runs are kept. Results of kept runs stay. What is removed can’t be brought back, but cards can run again.',
            used,
            runs,
          ),
    button: t('Free {0}', unused),
  }),
  openNewProject: (folder: string) => ({
    text: t('The project is in {0}. Open it?', plain(folder)),
    detail: t('This window changes to the project’s folder.'),
    button: t('Open'),
  }),
};

/** Words of views, status bar and progress. */
export const labels = {
  reachesNothing: (): string => t('Reaches only its inputs'),
  reachesNothingTooltip: (): string =>
    t('No network, no keys, no files but its inputs. This is the default.'),
  accepted: (): string => t('accepted'),
  notAccepted: (): string => t('not accepted'),
  manifestErrors: (count: number): string =>
    count === 1 ? t('Its manifest has one error') : t('Its manifest has {0} errors', count),
  blockedBy: (count: number): string =>
    count === 1
      ? t('Blocked: one permission is not accepted')
      : t('Blocked: {0} permissions are not accepted', count),
  input: (name: string): string => t('Input {0}', plain(name)),
  output: (name: string): string => t('Output {0}', plain(name)),
  fromCard: (type: string, from: string): string => t('{0} from {1}', type, plain(from)),
  notWired: (type: string, optional: boolean): string =>
    optional ? t('{0}, optional, not connected', type) : t('{0}, not connected', type),
  shown: (type: string): string => t('{0}, shown as a view', type),
  lastRun: (when: string): string => t('Last run {0}', when),
  ranFor: (run: string, wait: string, bytes: string): string =>
    t('ran {0}, waited {1}, wrote {2}', run, wait, bytes),
  review: (): string => t('Review Permissions'),
  openManifest: (): string => t('Open Manifest'),
  openRun: (): string => t('Open Run View'),
  restrictedView: (): string => t('Restricted Mode: look, but nothing runs until you trust this folder.'),
  doctorRuns: (): string => t('Trying what this machine can seal…'),
  showOlder: (): string => t('Show older runs'),
  cards: (count: number): string => (count === 1 ? t('one card') : t('{0} cards', count)),
  fromCache: (count: number): string => t('{0} from cache', count),
  spokenCard: (title: string, description: string, waiting: number): string =>
    waiting === 0
      ? `${title}, ${description}`
      : waiting === 1
        ? t('{0}, {1}, 1 permission not accepted', title, description)
        : t('{0}, {1}, {2} permissions not accepted', title, description, waiting),
  runningTitle: (project: string): string => t('Running {0}', plain(project)),
  runningDetail: (done: number, total: number): string => t('{0} of {1} cards', done, total),
  statusIdle: (): string => t('Sallyport'),
  statusRunning: (done: number, total: number): string => t('Sallyport {0}/{1}', done, total),
  statusFailed: (count: number): string => t('{0} failed', count),
  statusBlocked: (count: number): string => t('{0} blocked', count),
  statusProblems: (count: number): string => t('{0} with errors', count),
  statusDone: (count: number): string => t('{0} done', count),
  statusStopped: (): string => t('Sallyport stopped'),
  statusStoppedTooltip: (): string => t('Sallyport’s engine stopped too often. Press to start it again.'),
  statusRestricted: (): string => t('Sallyport: Restricted Mode'),
  statusTooltip: (project: string): string => t('{0} – open the canvas', plain(project)),
  statusReviewTooltip: (project: string): string => t('{0} – review permissions', plain(project)),
};

/** The words for an error; undefined where a person cancelled, which needs none. */
export function errorNotice(error: unknown): Notice | undefined {
  if (!(error instanceof UserError)) {
    return {
      severity: 'error',
      text: t('Sallyport could not do that because of a mistake of its own. The log has the details.'),
      action: actions.showLog(),
    };
  }
  const fail = (text: string, action?: Action): Notice => ({
    severity: 'error',
    text,
    ...(action && { action }),
  });
  switch (error.code) {
    case 'cancelled':
      return undefined;
    case 'not-trusted':
      return notices.notTrusted();
    case 'no-project':
      return notices.noProject();
    case 'closed':
      return fail(
        t('Sallyport’s engine is not running, so this could not be done. Finished results are kept.'),
        actions.restart(),
      );
    case 'timeout':
      return fail(
        t('Sallyport’s engine did not answer in time. It may be busy; try again, or restart it.'),
        actions.restart(),
      );
    case 'bad-message':
      return fail(
        t(
          'Sallyport’s parts do not understand each other. Reload the window; reinstall Sallyport if it stays so.',
        ),
        actions.showLog(),
      );
    case 'too-large':
    case 'not-found':
    case 'conflict':
    case 'unreadable':
    case 'unsafe-path':
    case 'bad-app':
      return fail(sentence(error));
    case 'store-damaged':
      return fail(sentence(error), actions.showLog());
    case 'disk-full':
      return fail(sentence(error), actions.cleanUp());
    case 'bad-project':
      return fail(sentence(error), actions.problems());
    case 'permission-needed':
      return fail(sentence(error), { title: t('Review'), command: 'sallyport.reviewPermissions' });
    case 'isolation-missing':
    case 'interpreter-missing':
      return fail(sentence(error), actions.doctor());
    case 'unreachable':
    case 'host-key':
    case 'sign-in':
    case 'incompatible':
      return fail(sentence(error));
    case 'internal':
      return fail(
        t('Sallyport could not do that because of a mistake of its own. The log has the details.'),
        actions.showLog(),
      );
  }
}

/** A card's state as a word. */
export function cardStateWord(state: CardState | 'none' | 'problem', cached = false): string {
  switch (state) {
    case 'problem':
      return t('has errors');
    case 'queued':
      return t('queued');
    case 'running':
      return t('running');
    case 'done':
      return cached ? t('from cache') : t('done');
    case 'failed':
      return t('failed');
    case 'cancelled':
      return t('cancelled');
    case 'skipped':
      return t('skipped');
    case 'blocked':
      return t('blocked');
    case 'unknown':
      return t('unknown');
    case 'none':
      return t('not run');
  }
}

/** What keeps a card within its limits. */
export function limitsWord(limits: IsolationReport['limits']): string {
  return limits === 'cgroup' ? t('the kernel (cgroups)') : t('Sallyport’s own watch');
}

/** A run's state as a word. */
export function runStateWord(state: RunState): string {
  switch (state) {
    case 'running':
      return t('running');
    case 'done':
      return t('done');
    case 'failed':
      return t('failed');
    case 'cancelled':
      return t('cancelled');
    case 'unknown':
      return t('unknown');
  }
}

/** Why a card is where it is: the kind in words, the detail, the remedy. */
export function reasonText(reason: Reason): string {
  const detail = plain(reason.detail);
  const text = `${reasonWord(reason.kind)}${detail === '' ? '' : `: ${detail}`}`;
  return reason.remedy === undefined ? text : `${text} – ${plain(reason.remedy)}`;
}

function reasonWord(kind: Reason['kind']): string {
  switch (kind) {
    case 'exit':
      return t('Ended with an error');
    case 'signal':
      return t('Was ended by a signal');
    case 'timeout':
      return t('Took longer than its limit');
    case 'memory':
      return t('Used more memory than its limit');
    case 'processes':
      return t('Started more processes than its limit');
    case 'output-limit':
      return t('Wrote more than its limit');
    case 'output-problem':
      return t('An output could not be taken');
    case 'exception':
      return t('Threw an error');
    case 'cancelled':
      return t('Cancelled');
    case 'upstream':
      return t('A card it needs did not finish');
    case 'permission-needed':
      return t('Asks for a permission that is not accepted');
    case 'isolation-missing':
      return t('This machine can’t seal it');
    case 'place':
      return t('The place where it runs can’t be used');
    case 'interpreter-missing':
      return t('A program it needs is missing');
    case 'bad-card':
      return t('Its manifest has errors');
    case 'disk-full':
      return t('The disk is full');
    case 'interrupted':
      return t('The engine stopped during it');
    case 'internal':
      return t('A mistake in Sallyport');
  }
}

/** What a dry run says of a card. */
export function plannedWord(action: PlannedCard['action']): string {
  switch (action) {
    case 'run':
      return t('would run');
    case 'cached':
      return t('from cache');
    case 'depends':
      return t('depends on cards before it');
    case 'blocked':
      return t('blocked');
    case 'refused':
      return t('refused');
    case 'skipped':
      return t('skipped');
  }
}

/** One part of a cache key that changed, in words. */
export function changeText(change: KeyPartChange): string {
  // That it is the first run is all there is to say.
  const detail = change.part === 'first-run' ? '' : plain(change.detail);
  const word = changeWord(change.part);
  return detail === '' ? word : `${word}: ${detail}`;
}

function changeWord(part: KeyPartChange['part']): string {
  switch (part) {
    case 'code':
      return t('Its code changed');
    case 'runtime':
      return t('Its runtime or entry changed');
    case 'params':
      return t('A parameter changed');
    case 'inputs':
      return t('An input changed');
    case 'outputs':
      return t('Its outputs are declared differently');
    case 'environment':
      return t('The environment changed');
    case 'permissions':
      return t('Its permissions changed');
    case 'limits':
      return t('Its limits changed');
    case 'first-run':
      return t('It had not run before');
    case 'result-removed':
      return t('Its earlier result was removed');
    case 'cache-ignored':
      return t('The cache was not used, as asked');
    case 'last-failed':
      return t('It did not finish the last time');
  }
}

/** Names up to the third, then how many more. */
function listed(names: readonly string[]): string {
  const first = names
    .slice(0, 3)
    .map((name) => short(name, 40))
    .join(', ');
  return names.length <= 3 ? first : t('{0} and {1} more', first, names.length - 3);
}

/** The engine's own words: what failed, the value, and the remedy where it stands apart. */
function sentence(error: UserError): string {
  const remedy = error.data['remedy'];
  return [error.message, ...(typeof remedy === 'string' && !error.message.includes(remedy) ? [remedy] : [])]
    .map((text) => plain(text).replace(/([^.!?…])$/, '$1.'))
    .join(' ');
}
