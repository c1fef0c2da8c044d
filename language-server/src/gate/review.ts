import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '../../../protocol/src/canonicalJson.ts';
import type { Approval, Decision, Target } from '../../../protocol/src/gate.ts';
import { permissionKey, permissionSentence } from '../../../protocol/src/permissions.ts';
import { hasHidden, showHidden, showHiddenLines } from '../../../protocol/src/text.ts';
import type { Act } from './act.ts';

/** Lines of a prompt that are shown at once; a longer act is read in a document before it can be allowed. */
const shownLines = 12;
const shownLineLength = 160;

/** In hexadecimal, of the text in UTF-8. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** What identifies an act's arguments: RFC 8785 canonical JSON, so that absent and null differ and key order does not. */
export function argumentDigest(args: Json): string {
  return sha256(canonicalJson(args));
}

export interface ReviewOptions {
  readonly id: string;
  readonly conversationTitle: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What a person is shown of an act. Everything that may hold foreign text is escaped here, once. */
export function createReview(
  act: Act,
  targets: readonly Target[],
  decision: Decision,
  options: ReviewOptions,
): Approval {
  const { title, lines, fullText } = act.describe(targets);
  const tooLong =
    fullText === null && (lines.length > shownLines || lines.some((line) => line.length > shownLineLength));
  const whole = tooLong ? [title, ...lines].join('\n') : fullText;
  const shown = {
    id: options.id,
    principal: act.principal,
    conversation: act.conversation,
    conversationTitle: options.conversationTitle === null ? null : showHidden(options.conversationTitle),
    root: act.root,
    scope: act.scope,
    callId: act.callId,
    tool: act.tool,
    argumentDigest: argumentDigest(act.args),
    title: showHidden(title),
    lines: lines.map(showHidden),
    fullText: whole === null ? null : showHiddenLines(whole),
    isFlagged: [title, ...lines, whole ?? ''].some(hasHidden),
    permissions: act.permissions.map((permission) => ({
      key: permissionKey(permission),
      permission,
      sentence: permissionSentence(permission),
    })),
    targets: targets.map((each) => ({ ...each, name: showHidden(each.name) })),
    rule: decision.rule,
    grantable: decision.grantable,
    createdAt: options.createdAt,
    expiresAt: options.expiresAt,
  };
  return { ...shown, reviewDigest: sha256(canonicalJson(shown)) };
}

/** Equal where nothing that was measured is different: order does not count. */
export function measureDigest(targets: readonly Target[]): string {
  const lines = targets.map((each) => canonicalJson(each)).sort();
  return sha256(lines.join('\n'));
}
