import type { Approval, Decision, Target } from '../../../protocol/src/gate.ts';
import { showHiddenLines } from '../../../protocol/src/text.ts';
import { approvalWords } from '../agentMessages.ts';
import type { Report } from '../documents/reportTexts.ts';
import { timestamp } from '../figures.ts';
import { offeredGrant } from './approvalLines.ts';

/** The whole of an approval as a document: what the engine escaped stays as it is, nothing is cut. */
export function approvalReport(approval: Approval): Report {
  const { headings } = approvalWords;
  const { title, lines, fullText, permissions, targets, rule } = approval;
  return report(approvalWords.documentTitle(approval.tool, approval.id.slice(0, 8)), [
    [headings.act(), [title, approvalWords.asker(approval.principal, approval.conversationTitle), ...lines]],
    [headings.wholeText(), fullText === null ? [] : [fullText]],
    [headings.permissions(), permissions.map(({ sentence }) => sentence)],
    [headings.targets(), targets.map(targetLine)],
    [headings.rule(), [`${rule.text} (${rule.id})`]],
    [headings.bound(), [approvalWords.boundTo(approval.argumentDigest, timestamp(approval.expiresAt))]],
  ]);
}

/** Why an act is asked for, and what would make asking unnecessary. */
export function explanationReport(approval: Approval): Report {
  const grant = offeredGrant(approval);
  return report(approvalWords.explainTitle(approval.tool), [
    [approvalWords.headings.rule(), [`${approval.rule.text} (${approval.rule.id})`]],
    [approvalWords.headings.targets(), approval.targets.map(targetLine)],
    [
      approvalWords.headings.grant(),
      [grant ? approvalWords.grantWould(grant.kind) : approvalWords.noGrantWould()],
    ],
  ]);
}

/** What the gate would say of a call that was only tried out. */
export function tryOutReport(
  tool: string,
  found: {
    readonly decision: Decision;
    readonly targets: readonly Target[];
    readonly explanation: readonly string[];
  },
): Report {
  const { decision, targets, explanation } = found;
  return report(approvalWords.tryOutTitle(tool), [
    [
      approvalWords.headings.verdict(),
      [approvalWords.verdict(decision.verdict), `${decision.rule.text} (${decision.rule.id})`],
    ],
    [approvalWords.headings.act(), explanation],
    [approvalWords.headings.targets(), targets.map(targetLine)],
    [
      approvalWords.headings.grant(),
      decision.verdict === 'ask'
        ? [
            decision.grantable === null
              ? approvalWords.noGrantWould()
              : approvalWords.grantWould(decision.grantable),
          ]
        : [],
    ],
  ]);
}

function targetLine({ kind, name, isProtected, isOutside, measure }: Target): string {
  const notes = [
    ...(isProtected ? [approvalWords.isProtected()] : []),
    ...(isOutside ? [approvalWords.isOutside()] : []),
    ...(measure === null ? [] : [measure]),
  ];
  return `${approvalWords.targetKind(kind)} ${name}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

function report(title: string, parts: readonly (readonly [string, readonly string[]])[]): Report {
  const text = parts
    .filter(([, lines]) => lines.length > 0)
    .map(
      ([heading, lines]) =>
        `${heading}\n${'-'.repeat(heading.length)}\n${lines.map(showHiddenLines).join('\n')}\n`,
    )
    .join('\n');
  return { title, text: `${title}\n${'='.repeat(title.length)}\n\n${text}` };
}
