import * as z from 'zod/mini';
import { appTheme, bridgeLimits } from './bridge.ts';
import { notification, request } from './contract.ts';

/**
 * The way of an app's call: frame ↔ shell over one MessagePort, shell ↔ extension over the webview's messages. The
 * frame is hostile; the shell is constant code of ours that holds nothing of the app in its own document. Calls and
 * their answers are JSON text in both (bridge.ts), so that what was checked is what is passed on.
 */

const empty = z.strictObject({});
const methodName = z.string().check(z.maxLength(64));
const paramsText = z.string().check(z.maxLength(bridgeLimits.paramsCharacters));
/** Chosen by who asks, to tell pieces of several texts apart. */
const stream = z.string().check(z.maxLength(64));
/** What happened in a frame, in words that came from it: shown as text, logged escaped. */
const told = z.string().check(z.maxLength(2000));

/** What the shell answers and hears from the frame. */
export const appShell = {
  requests: {
    'app/call': request(
      z.strictObject({ method: methodName, params: paramsText, stream: z.optional(stream) }),
      z.strictObject({ answer: z.string() }),
      { timeoutMs: 0 },
    ),
  },
  notifications: {
    /** The frame's own probe. False closes the frame; `problem` names what was found open. */
    'app/ready': notification(z.strictObject({ netClosed: z.boolean(), problem: told })),
    /** The page was written and its scripts that block the parser have run. */
    'app/shown': notification(empty),
    /** Something of the app threw, or the policy stopped a request of it. Logged for the author. */
    'app/problem': notification(z.strictObject({ kind: z.enum(['error', 'blocked']), text: told })),
    /** The frame got or lost the keyboard. One that took it without a person's act is closed. */
    'app/keyboard': notification(z.strictObject({ isHere: z.boolean() })),
    /** The person pressed the key that leaves the app. Moves the focus to the shell's bar, and does nothing else. */
    'app/leave': notification(empty),
  },
} as const;

/** What the frame answers and hears. */
export const appFrame = {
  requests: {
    /** Answered by a frame whose thread is free. */
    'app/ping': request(empty, z.null(), { timeoutMs: 3_000 }),
  },
  notifications: {
    /** Sent once, after `app/ready` said that the network is closed. UTF-8. */
    'app/show': notification(z.strictObject({ document: z.instanceof(ArrayBuffer), theme: appTheme })),
    'app/theme': notification(appTheme),
    'app/chunk': notification(z.strictObject({ stream, text: z.string() })),
    /** The focus came back from the bar. */
    'app/enter': notification(empty),
  },
} as const;

/** What the extension answers and hears from the shell of one app. Which app is known from the webview object. */
export const appPageHost = {
  requests: {
    /** The frame's own script: the frame starts with it, and proves itself closed, while the document is on its way. */
    'appPage/frame': request(empty, z.strictObject({ app: z.string(), frameScript: z.string() })),
    /** What to show in the frame. Asked again for a reload. */
    'appPage/document': request(
      empty,
      z.strictObject({ name: z.string(), document: z.instanceof(ArrayBuffer) }),
      { timeoutMs: 150_000 },
    ),
    'appPage/call': request(
      z.strictObject({ method: methodName, params: paramsText, callId: z.optional(stream) }),
      z.strictObject({ answer: z.string() }),
      { timeoutMs: 0 },
    ),
  },
  notifications: {
    /** For the log. */
    'appPage/problem': notification(
      z.strictObject({ kind: z.enum(['error', 'blocked', 'closed', 'refused']), text: told }),
    ),
  },
} as const;

/** What the shell hears from the extension. */
export const appPageView = {
  requests: {},
  notifications: {
    'appPage/chunk': notification(z.strictObject({ callId: stream, text: z.string() })),
    /** Another version of the app is installed: offer to show it. */
    'appPage/updated': notification(empty),
    /** Reload, as the bar's button does. */
    'appPage/reload': notification(empty),
  },
} as const;
