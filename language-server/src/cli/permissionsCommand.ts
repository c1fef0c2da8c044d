import type { PermissionReview } from '../../../protocol/src/engine.ts';
import { exitCodes } from './exitCodes.ts';
import type { Session } from './session.ts';
import { paint, printable, type Terminal } from './terminal.ts';

/**
 * Lists what the cards ask for. With `--review`, a person at a terminal answers card by card, by typing its name: no
 * option, variable or pipe gives that answer.
 */
export async function permissionsCommand(session: Session): Promise<number> {
  const { args, terminal, root } = session;
  session.project();
  const review = await session.call('permissions/review', { root });
  const waiting = review.cards.filter(({ permissions }) => permissions.some(({ isNew }) => isNew));
  if (args.json) terminal.out(JSON.stringify(review));
  else for (const line of reviewLines(review, terminal)) terminal.out(line);
  if (!args.review || waiting.length === 0) {
    return waiting.length === 0 ? exitCodes.done : exitCodes.permissionNeeded;
  }
  if (!terminal.isInteractive) {
    terminal.note('Permissions are accepted by a person at a terminal. Nothing was accepted.');
    return exitCodes.permissionNeeded;
  }
  if (review.scope === null) {
    terminal.note('This file system does not tell a folder from its copy: nothing can be accepted here.');
    return exitCodes.permissionNeeded;
  }
  const accepted: { card: string; keys: string[] }[] = [];
  for (const { id, permissions } of waiting) {
    terminal.out('');
    terminal.out(`${paint(terminal, 'bold', id)} asks for:`);
    for (const each of permissions)
      if (each.isNew) terminal.out(`  ${printable(each.sentence)}  (${printable(each.key)})`);
    const answer = await terminal.ask(`Type “${id}” to accept, Enter to leave it blocked: `);
    if (answer.trim() === id) accepted.push({ card: id, keys: permissions.map(({ key }) => key) });
  }
  if (accepted.length > 0) {
    await session.call('permissions/accept', { root, digest: review.digest, accepted });
  }
  terminal.out(`Accepted for ${accepted.length} of ${waiting.length} cards.`);
  return accepted.length === waiting.length ? exitCodes.done : exitCodes.permissionNeeded;
}

function reviewLines(review: PermissionReview, terminal: Terminal): string[] {
  if (review.cards.length === 0) return ['No card asks for anything beyond the default.'];
  return review.cards.flatMap(({ id, title, permissions }) => [
    `${paint(terminal, 'bold', id)}  ${printable(title)}`,
    ...permissions.map(({ sentence, isNew }) => {
      const word = isNew ? paint(terminal, 'yellow', 'not accepted') : paint(terminal, 'green', 'accepted');
      return `  ${word}  ${printable(sentence)}`;
    }),
  ]);
}
