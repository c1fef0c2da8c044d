import type { AppReview, PermissionLine } from '../../../protocol/src/apps.ts';
import { sourceText } from '../apps/createReview.ts';
import { paint, printable, size, type Terminal } from './terminal.ts';

/** A review for a terminal, in the order in which it is judged: who, why, what it may, what it is made of. */
export function reviewLines(review: AppReview, terminal: Terminal): string[] {
  const { app, name, appVersion, commit, installed, packages } = review;
  const before = installed ? ` (installed: ${installed.appVersion})` : '';
  return [
    `${paint(terminal, 'bold', app)}  ${printable(name)}  ${appVersion}${before}`,
    `From ${printable(sourceText(review.source))}${commit === null ? '' : `, commit ${commit}`}`,
    `${review.files} files, ${size(review.sizeBytes)}${review.dataBytes > 0 ? `, brings ${size(review.dataBytes)} of stored data` : ''}${review.isOfficial ? ', official' : ''}`,
    ...review.reasons.map(({ text }) => paint(terminal, 'yellow', printable(text))),
    'The page may:',
    ...permissionTexts(review.permissions, review.dropped, terminal),
    ...review.plugins.flatMap((plugin) => [
      `Plugin ${paint(terminal, 'bold', plugin.id)} (${plugin.state}) may:`,
      ...permissionTexts(plugin.permissions, plugin.dropped, terminal),
    ]),
    ...(packages.length === 0 ? [] : [`Packages built into the page: ${packages.length}`]),
    ...packages.map(
      (each) => `  ${each.state.padEnd(7)}  ${printable(each.name)} ${printable(each.version)}`,
    ),
  ];
}

function permissionTexts(
  permissions: readonly PermissionLine[],
  dropped: readonly string[],
  terminal: Terminal,
): string[] {
  const lines = permissions.map(({ sentence, isNew, isLocal }) => {
    const marks = [
      ...(isNew ? [paint(terminal, 'yellow', 'new')] : []),
      ...(isLocal ? [paint(terminal, 'red', 'on this machine or its network')] : []),
    ];
    return `  ${printable(sentence)}${marks.length > 0 ? `  [${marks.join(', ')}]` : ''}`;
  });
  const gone = dropped.map((sentence) => `  ${paint(terminal, 'dim', `no longer: ${printable(sentence)}`)}`);
  return [...(lines.length === 0 ? ['  nothing beyond the default'] : lines), ...gone];
}
