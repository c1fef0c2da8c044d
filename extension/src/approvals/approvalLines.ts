import type { Approval, GrantKind, Target } from '../../../protocol/src/gate.ts';
import { approvalWords } from '../agentMessages.ts';
import { plain } from '../plainText.ts';

/** What a line does when it is chosen. Facts do nothing: Enter on one never answers. */
export type ApprovalAct = 'allow-once' | 'decline' | 'grant' | 'open-text' | 'explain' | 'back';

export type ApprovalLine =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'fact'; readonly text: string; readonly note?: string }
  | { readonly kind: 'act'; readonly act: ApprovalAct; readonly text: string; readonly note?: string };

export interface ApprovalView {
  /** The whole text was opened, where there is one. */
  readonly isRead: boolean;
  /** Others wait too, so that there is a list to go back to. */
  readonly hasList: boolean;
}

/**
 * One approval as the lines of a list: what is asked, what it opens, what it touches, which rule asks; then the answers.
 * While a whole text was not opened, no line allows. Everything is plain.
 */
export function approvalLines(approval: Approval, { isRead, hasList }: ApprovalView): ApprovalLine[] {
  const { permissions, targets, rule } = approval;
  const canAllow = isRead || !mustRead(approval);
  const lines: ApprovalLine[] = [
    heading(approvalWords.headings.act()),
    fact(approval.title, approvalWords.asker(approval.principal, approval.conversationTitle)),
  ];
  if (approval.isFlagged) lines.push(fact(approvalWords.flagged()));
  // Before the particulars: what an act opens must be in view without scrolling.
  if (permissions.length > 0) {
    lines.push(heading(approvalWords.headings.permissions()));
    for (const { sentence } of permissions) lines.push(fact(sentence));
    if (approval.lines.length > 0) lines.push(heading(approvalWords.headings.particulars()));
  }
  lines.push(...approval.lines.map((line) => fact(line)));
  if (targets.length > 0) {
    lines.push(heading(approvalWords.headings.targets()));
    for (const each of targets) lines.push(fact(targetName(each), targetNote(each)));
  }
  lines.push(heading(approvalWords.headings.rule()), fact(rule.text, rule.id));
  lines.push(heading(approvalWords.headings.answer()));
  lines.push(act('open-text', approvalWords.openText(), canAllow ? undefined : approvalWords.readFirst()));
  if (canAllow) {
    lines.push(act('allow-once', approvalWords.allowOnce(), approvalWords.allowOnceNote()));
    const grant = offeredGrant(approval);
    if (grant) lines.push(act('grant', approvalWords.grant(grant.kind, grant.conversation !== null)));
  }
  lines.push(act('decline', approvalWords.decline(), approvalWords.declineNote()));
  lines.push(act('explain', approvalWords.explain()));
  if (hasList) lines.push(act('back', approvalWords.back()));
  return lines;
}

/** What a pick list surely shows of one line at its narrowest. */
const lineCharacters = 72;

/** True where the list can't show all of it: then it can be allowed only after the whole text was opened. */
export function mustRead({ fullText, title, lines, permissions, targets }: Approval): boolean {
  if (fullText !== null) return true;
  const shown = [
    title,
    ...lines,
    ...permissions.map((each) => each.sentence),
    ...targets.map((each) => each.name),
  ];
  return shown.some((text) => Array.from(plain(text)).length > lineCharacters);
}

/**
 * The grant that would have made asking unnecessary: for the conversation, or, for an agent outside Sallyport that has
 * none, reading in the project. Undefined where no grant covers the act.
 */
export function offeredGrant({
  grantable,
  conversation,
}: Approval): { readonly kind: GrantKind; readonly conversation: string | null } | undefined {
  if (grantable === null) return undefined;
  if (conversation === null && grantable !== 'read') return undefined;
  return { kind: grantable, conversation };
}

function targetName(target: Target): string {
  return isProject(target) ? approvalWords.wholeProject() : target.name;
}

function isProject({ kind, name }: Target): boolean {
  return kind === 'path' && name === '.';
}

function targetNote(target: Target): string {
  const { kind, isProtected, isOutside, measure } = target;
  return [
    ...(isProject(target) ? [] : [approvalWords.targetKind(kind)]),
    ...(isProtected ? [approvalWords.isProtected()] : []),
    ...(isOutside ? [approvalWords.isOutside()] : []),
    ...(measure === null && kind === 'path' ? [approvalWords.isMissing()] : []),
  ].join(', ');
}

function heading(text: string): ApprovalLine {
  return { kind: 'heading', text };
}

function fact(text: string, note?: string): ApprovalLine {
  return { kind: 'fact', text: plain(text), ...(note !== undefined && { note: plain(note) }) };
}

function act(name: ApprovalAct, text: string, note?: string): ApprovalLine {
  return { kind: 'act', act: name, text, ...(note !== undefined && { note }) };
}
