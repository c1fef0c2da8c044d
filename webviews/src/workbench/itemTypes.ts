import type { FileChange, Item, Mention } from '../../../protocol/src/agent.ts';

export type { FileChange, Item };
export type MentionKind = Mention['kind'];
export type PersonItem = Extract<Item, { kind: 'person' }>;
export type AnswerItem = Extract<Item, { kind: 'answer' }>;
export type ToolItem = Extract<Item, { kind: 'tool' }>;
export type NoticeItem = Extract<Item, { kind: 'notice' }>;
export type SummaryItem = Extract<Item, { kind: 'summary' }>;
