import type { CardRunView, PermissionReview, RunView } from '../../../../protocol/src/engine.ts';

/** A run in words for a model: each card's state, exit code, reason and remedy, running and waiting apart. */
export function tellRun(view: RunView, review: PermissionReview): string {
  const { summary, cards } = view;
  const head = `Run ${summary.runId}: ${summary.state === 'running' ? 'still running' : summary.state}.`;
  const blocked = cards.filter(({ status }) => status.reason?.kind === 'permission-needed');
  return [
    head,
    ...cards.flatMap(tellCard),
    ...blocked.flatMap((card) => tellBlocked(card.id, review)),
    ...(blocked.length > 0
      ? [
          'Only a person accepts permissions, in Sallyport’s own review. Say what you need and why, or change the card so that it needs less.',
        ]
      : []),
    ...(summary.state === 'unknown' ? ['How it ended was not seen. It is neither success nor failure.'] : []),
  ].join('\n');
}

function tellCard({ id, status, outputs, logLines }: CardRunView): string[] {
  const facts = [
    status.cached ? 'from the cache' : '',
    status.exitCode === null ? '' : `exit code ${status.exitCode}`,
    status.runMs === null ? '' : `ran ${seconds(status.runMs)}`,
    status.waitMs === null ? '' : `waited ${seconds(status.waitMs)} for a place`,
    outputs.length === 0 ? '' : `outputs ${outputs.map(({ port, type }) => `${port} (${type})`).join(', ')}`,
    logLines === 0 ? '' : `${logLines} lines of log`,
  ].filter((fact) => fact !== '');
  const { reason, progress } = status;
  return [
    `- ${id}: ${status.state}${facts.length > 0 ? ` (${facts.join('; ')})` : ''}`,
    ...(reason ? [`  ${reason.kind}: ${reason.detail}`] : []),
    ...(reason?.remedy === undefined ? [] : [`  What helps: ${reason.remedy}`]),
    ...(progress && status.state === 'running'
      ? [`  ${Math.round(progress.fraction * 100)} % ${progress.text}`]
      : []),
  ];
}

function tellBlocked(card: string, { cards }: PermissionReview): string[] {
  const asked = cards.find(({ id }) => id === card)?.permissions.filter(({ isNew }) => isNew) ?? [];
  return asked.map(
    ({ sentence, key }) => `- ${card} needs a permission that no person accepted: ${sentence} [${key}]`,
  );
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 0)} s`;
}
