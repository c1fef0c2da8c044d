import { l10n } from 'vscode';
import type { KeyPartChange, PlannedCard, ProjectView } from '../../../protocol/src/engine.ts';
import type {
  EgressRecord,
  Interpreter,
  IsolationCheck,
  IsolationReport,
} from '../../../protocol/src/runner.ts';
import type { PlaceView } from '../../../protocol/src/places.ts';
import { principalWord } from '../agentMessages.ts';
import { size, timestamp } from '../figures.ts';
import { changeText, limitsWord, plannedWord, reasonText } from '../messages.ts';
import { plain } from '../plainText.ts';
import { columns } from './columns.ts';
import { isUsable, placesPart } from './placeReports.ts';

const t = l10n.t;

/** A read-only document: the name of its tab and its text. */
export interface Report {
  readonly title: string;
  readonly text: string;
}

/** What a dry run found, one line a card, the reasons below it. */
export function dryRunReport(project: ProjectView, planned: readonly PlannedCard[]): Report {
  const titles = new Map(project.cards.map((card) => [card.id, plain(card.title)]));
  const would = planned.filter((card) => card.action === 'run').length;
  const lines = planned.flatMap((card) => [
    `${titles.get(card.id) ?? card.id}: ${plannedWord(card.action)}`,
    ...card.why.map((change) => `    ${changeText(change)}`),
    ...(card.reason ? [`    ${reasonText(card.reason)}`] : []),
  ]);
  const cached = planned.filter((card) => card.action === 'cached').length;
  return report(t('Dry run of {0}', plain(project.name)), [
    t('Would run: {0} of {1}. From the cache: {2}. Nothing was run.', would, planned.length, cached),
    lines.join('\n'),
  ]);
}

/** Why a card ran instead of coming from the cache. */
export function whyReport(card: string, changes: readonly KeyPartChange[]): Report {
  const body =
    changes.length === 0
      ? t('It came from the cache: nothing that its result depends on has changed.')
      : changes.map((change) => `- ${changeText(change)}`).join('\n');
  return report(t('Why {0} ran', plain(card)), [body]);
}

export interface DoctorFacts {
  readonly isolation: IsolationReport;
  readonly interpreters: readonly Interpreter[];
  readonly checks: readonly IsolationCheck[];
  readonly home: string;
  readonly node: string;
}

/** What works on this machine and in other places, what does not, and the remedy of each. */
export function doctorReport(facts: DoctorFacts, places: readonly PlaceView[] = []): Report {
  const all = [...facts.isolation.checks, ...facts.checks];
  const missing = all.filter((check) => !check.ok).length + places.filter((place) => !isUsable(place)).length;
  const sealing =
    facts.isolation.kind === 'none'
      ? t('This machine can’t seal processes: only js cards run, every other card is refused.')
      : t(
          'Cards are sealed by {0} {1}; limits are kept by {2}.',
          facts.isolation.kind,
          plain(facts.isolation.version),
          limitsWord(facts.isolation.limits),
        );
  const interpreters = facts.interpreters.map((each) => [
    each.runtime,
    plain(each.version),
    plain(each.path),
  ]);
  return report(t('Doctor'), [
    missing === 0
      ? t('Everything that was checked works.')
      : t('{0} of {1} checks failed. The remedies stand below them.', missing, all.length + places.length),
    sealing,
    all.map(checkLines).join('\n'),
    interpreters.length === 0
      ? t('No interpreters were found.')
      : columns([[t('runtime'), t('version'), t('path')], ...interpreters]),
    ...(places.length === 0 ? [] : [placesPart(places)]),
    columns([
      [t('State folder'), plain(facts.home)],
      [t('Engine’s Node'), plain(facts.node)],
    ]),
  ]);
}

function checkLines(check: IsolationCheck): string {
  const head = `[${check.ok ? t('ok') : t('failed')}] ${plain(check.title)}`;
  const detail = check.detail === '' ? [] : [`    ${plain(check.detail)}`];
  const remedy = check.remedy === undefined ? [] : [`    ${t('Remedy: {0}', plain(check.remedy))}`];
  return [head, ...detail, ...remedy].join('\n');
}

export type ShownEgress = EgressRecord & {
  readonly card: string;
  readonly runId: string;
  readonly principal?: string | undefined;
};

/** Every request of a card or an agent, newest first as the engine gives them. */
export function egressReport(project: string, records: readonly ShownEgress[], isCut: boolean): Report {
  const title = t('Requests of {0}', plain(project));
  if (records.length === 0) return report(title, [t('Nothing has asked for anything over the network.')]);
  const head = [
    t('time'),
    t('who'),
    t('verdict'),
    t('method'),
    t('host'),
    t('address'),
    t('sent'),
    t('received'),
    t('rule'),
  ];
  const rows = records.map((record) => [
    timestamp(record.at),
    record.principal === undefined ? plain(record.card) : principalWord(record.principal),
    verdictWord(record.verdict),
    plain(record.method),
    `${plain(record.host)}:${record.port}`,
    plain(record.address ?? '–'),
    size(record.sentBytes),
    size(record.receivedBytes),
    plain(record.reason),
  ]);
  const cut = isCut ? [t('The newest {0} requests are shown.', records.length)] : [];
  return report(title, [columns([head, ...rows]), ...cut]);
}

function verdictWord(verdict: EgressRecord['verdict']): string {
  switch (verdict) {
    case 'allowed':
      return t('allowed');
    case 'refused':
      return t('refused');
    case 'failed':
      return t('failed');
  }
}

/** The whole text of a permission that is longer than a pick list shows. */
export function permissionText(card: string, sentence: string): Report {
  return report(t('A permission of {0}', plain(card)), [plain(sentence)]);
}

function report(title: string, parts: readonly string[]): Report {
  return { title, text: `${title}\n${'='.repeat(Array.from(title).length)}\n\n${parts.join('\n\n')}\n` };
}
