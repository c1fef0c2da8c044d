import type { ConversationSummary } from '../../../protocol/src/agent.ts';
import { costText, tokenText } from './usageText.ts';
import { workbenchWords as words } from './workbenchWords.ts';

/** How full the model's context is, what was used so far, and how often a person was asked. */
export function UsageBar({ summary }: { readonly summary: ConversationSummary }) {
  const { contextTokens, contextLimit, usage, questions } = summary;
  const used = tokenText(contextTokens);
  const text =
    contextLimit === null ? words.contextOnly(used) : words.contextOf(used, tokenText(contextLimit));
  const part = contextLimit === null ? 0 : Math.min(1, contextTokens / Math.max(1, contextLimit));
  return (
    <div className="usage">
      {contextLimit === null ? null : (
        <svg
          className={part > 0.8 ? 'gauge gauge-full' : 'gauge'}
          viewBox="0 0 16 16"
          role="meter"
          aria-label={words.context}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(part * 100)}
          aria-valuetext={text}
        >
          <circle cx="8" cy="8" r="6" />
          <circle cx="8" cy="8" r="6" pathLength={100} strokeDasharray={`${part * 100} 100`} />
        </svg>
      )}
      <span title={words.context}>{text}</span>
      <span>{words.tokens(tokenText(usage.inputTokens), tokenText(usage.outputTokens))}</span>
      {usage.cost === null ? null : <span>{words.cost(costText(usage.cost))}</span>}
      {questions === 0 ? null : <span>{words.questions(questions)}</span>}
    </div>
  );
}
