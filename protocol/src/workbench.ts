import * as z from 'zod/mini';
import { agentMode, connection, conversationSummary, image, item, mention } from './agent.ts';
import { notification, request } from './contract.ts';

/** Extension ↔ the workbench webview. It holds a window of a conversation; the engine holds the conversation. */

const empty = z.strictObject({});
const id = z.string();

export const workbenchHost = {
  requests: {
    'workbench/ready': request(empty, z.null()),
    'workbench/open': request(z.strictObject({ id: z.nullable(z.string()) }), z.null()),
    'workbench/create': request(empty, z.null()),
    'workbench/readBefore': request(
      z.strictObject({ id, before: z.int(), limit: z.int() }),
      z.strictObject({ items: z.array(item) }),
    ),
    'workbench/list': request(
      z.strictObject({ query: z.string() }),
      z.strictObject({ conversations: z.array(conversationSummary) }),
    ),
    'workbench/send': request(
      z.strictObject({ id, text: z.string(), mentions: z.array(mention), images: z.array(image) }),
      z.null(),
    ),
    'workbench/stop': request(z.strictObject({ id }), z.null()),
    'workbench/configure': request(
      z.strictObject({
        id,
        mode: z.optional(agentMode),
        connection: z.optional(z.string()),
        model: z.optional(z.string()),
      }),
      z.null(),
    ),
    'workbench/suggest': request(
      z.strictObject({ query: z.string() }),
      z.strictObject({
        suggestions: z.array(z.strictObject({ mention, label: z.string(), detail: z.string() })),
      }),
    ),
    /** Named acts of a row or of the conversation: the extension opens native UI or asks the engine. */
    'workbench/act': request(
      z.strictObject({
        act: z.enum([
          'connect',
          'newProject',
          'trust',
          'review',
          'openDiff',
          'undoTurn',
          'redoTurn',
          'undoFile',
          'fork',
          'rename',
          'delete',
          'compact',
          'showSent',
          'openRun',
          'openFile',
          'openLink',
          'rules',
          'grants',
          /** The action that a notice offers: the command is read from the row, never from the page. */
          'notice',
        ]),
        id: z.nullable(z.string()),
        seq: z.nullable(z.int()),
        value: z.string(),
      }),
      z.null(),
      { timeoutMs: 0 },
    ),
  },
  notifications: {
    /** The page is alive; without it the extension loads the page anew. */
    'workbench/beat': notification(empty),
  },
} as const;

export const workbenchView = {
  requests: {},
  notifications: {
    'workbench/state': notification(
      z.strictObject({
        projectName: z.nullable(z.string()),
        trusted: z.boolean(),
        connections: z.array(connection),
        conversation: z.nullable(conversationSummary),
        items: z.array(item),
        waiting: z.int(),
        recent: z.array(conversationSummary),
      }),
    ),
    'workbench/delta': notification(
      z.strictObject({
        summary: conversationSummary,
        items: z.array(item),
        text: z.nullable(z.strictObject({ seq: z.int(), at: z.int(), append: z.string() })),
      }),
    ),
    'workbench/waiting': notification(z.strictObject({ waiting: z.int() })),
    'workbench/connections': notification(z.strictObject({ connections: z.array(connection) })),
    'workbench/message': notification(z.strictObject({ text: z.string() })),
  },
} as const;
