import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { showHidden } from '../../../../protocol/src/text.ts';

export const failureKinds = [
  /** 429. */
  'rate-limit',
  /** 529, 503, and the error events that say so. */
  'overloaded',
  /** Another 5xx. */
  'server',
  /** 401 or 403. */
  'key',
  /** Another 4xx. */
  'rejected',
  /** The request is longer than the model reads. */
  'too-long',
  /** A web page came instead of an answer: a proxy or a login page stands in between. */
  'not-an-api',
  /** The answer ended in the middle. */
  'cut',
  /** Nothing came for too long. */
  'silent',
  /** The connection could not be made. */
  'network',
  /** The person's side refused: no such connection, no key, key storage locked. */
  'connection',
  /** The answer does not follow its wire format. */
  'malformed',
] as const;
export type FailureKind = (typeof failureKinds)[number];

/** Why a request to a provider has no whole answer. `detail` is the provider's own sentence, escaped and short. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  readonly detail: string;

  constructor(
    kind: FailureKind,
    detail: string,
    more: { status?: number; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(`${kind}: ${detail}`, { cause: more.cause });
    this.name = 'ProviderFailure';
    this.kind = kind;
    this.status = more.status ?? null;
    this.retryAfterMs = more.retryAfterMs ?? null;
    this.detail = showHidden(detail).slice(0, longestDetail);
  }
}

const longestDetail = 300;

/** Kinds that may be better in a moment. Tried again only where nothing of the answer had arrived. */
const passing: ReadonlySet<FailureKind> = new Set(['rate-limit', 'overloaded', 'server', 'network']);

/** True for a failure that may be better in a moment. */
export function isPassing({ kind }: ProviderFailure): boolean {
  return passing.has(kind);
}

/** The words of each failure: what happened and what to do. */
export function failureText(failure: ProviderFailure, connection: string): string {
  const said = failure.detail === '' ? '' : ` It said: ${failure.detail}`;
  const status = failure.status === null ? '' : ` (${failure.status})`;
  switch (failure.kind) {
    case 'rate-limit':
      return `${connection} takes no more requests for now${status}. Wait a moment, then send again.${said}`;
    case 'overloaded':
      return `${connection} is overloaded${status}. Send again in a while, or choose another model.${said}`;
    case 'server':
      return `${connection} failed on its own side${status}. Nothing was done. Send again in a while.${said}`;
    case 'key':
      return `${connection} does not accept the key${status}: it may be wrong, expired or without rights. Replace the key of this connection.${said}`;
    case 'rejected':
      return `${connection} refused the request${status}. Check the model that is chosen.${said}`;
    case 'too-long':
      return `The conversation is longer than the model reads${status}. Compact it, or begin another one.${said}`;
    case 'not-an-api':
      return `A web page came instead of an answer of ${connection}${status}. A proxy or a sign-in page may stand in between: check the address of the connection and the network.`;
    case 'cut':
      return `The answer of ${connection} was cut off in the middle. What arrived is kept; no tool call of it was run. Send a message to go on.${said}`;
    case 'silent':
      return `${connection} sent nothing for too long and was given up. Send again, or choose another model.`;
    case 'network':
      return `${connection} can’t be reached. Check the network and the address of the connection.${said}`;
    case 'connection':
      return `${connection} can’t be used.${said}`;
    case 'malformed':
      return `The answer of ${connection} does not follow its format. Check the kind of the connection.${said}`;
  }
}

/** The words while a request is tried again. */
export function retryText(failure: ProviderFailure, connection: string, waitMs: number): string {
  const what = {
    'rate-limit': 'takes no more requests for now',
    overloaded: 'is overloaded',
    server: 'failed on its own side',
    network: 'can’t be reached',
  }[failure.kind as string];
  const status = failure.status === null ? '' : ` (${failure.status})`;
  return `${connection} ${what ?? 'failed'}${status}. Trying again in ${Math.max(1, Math.round(waitMs / 1000))} s.`;
}

/** Reads a status that is not 2xx, with the beginning of its body. */
export function toStatusFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
  now: () => number = Date.now,
): ProviderFailure {
  const isPage = looksLikePage(headers['content-type'], body);
  const detail = isPage ? '' : sentenceOf(body);
  const retryAfterMs = parseRetryAfter(headers, now);
  return new ProviderFailure(kindOf(status, isPage, body), detail, { status, retryAfterMs });
}

function kindOf(status: number, isPage: boolean, body: string): FailureKind {
  if (status === 429) return 'rate-limit';
  if (status === 529 || status === 503) return 'overloaded';
  if (status >= 500) return 'server';
  if (isPage || (status >= 300 && status < 400)) return 'not-an-api';
  if (status === 401 || status === 403) return 'key';
  if (status === 413 || tooLong.test(body)) return 'too-long';
  return 'rejected';
}

const tooLong = /context_length_exceeded|prompt is too long|maximum context length|context window/i;

/** True for a web page: by its type, or where no type is given by its first characters. */
export function looksLikePage(contentType: string | undefined, beginning: string): boolean {
  return /\bhtml\b/i.test(contentType ?? '') || /^\s*<(!doctype|html|head|body)\b/i.test(beginning);
}

/** `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), or the providers' own `retry-after-ms`. */
export function parseRetryAfter(
  headers: Readonly<Record<string, string>>,
  now: () => number = Date.now,
): number | null {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const value = headers['retry-after'];
  if (value === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now());
}

/** The sentence in an error body of any of the formats. */
function sentenceOf(body: string): string {
  try {
    const value = JSON.parse(body) as unknown;
    return messageIn(value) ?? body;
  } catch {
    return body;
  }
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { error, message } = value as { error?: unknown; message?: unknown };
  return typeof message === 'string' ? message : messageIn(error);
}

/** What the provider's package or the person's side threw, or an error event of the stream, as one of our kinds. */
export function toFailure(error: unknown): ProviderFailure {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each instanceof ProviderFailure) return each;
    if (each instanceof UserError) return new ProviderFailure('connection', each.message, { cause: error });
  }
  const text = error instanceof Error ? errorMessage(error) : (messageIn(error) ?? safeJson(error));
  if (/overloaded/i.test(text) || /overloaded/i.test(typeIn(error)))
    return new ProviderFailure('overloaded', text, { cause: error });
  if (/rate.?limit/i.test(typeIn(error))) return new ProviderFailure('rate-limit', text, { cause: error });
  if (tooLong.test(text)) return new ProviderFailure('too-long', text, { cause: error });
  if (/without a finish reason|unexpected end/i.test(text))
    return new ProviderFailure('cut', '', { cause: error });
  if (/api_error|server_error|internal/i.test(typeIn(error)))
    return new ProviderFailure('server', text, { cause: error });
  return new ProviderFailure('malformed', text, { cause: error });
}

function typeIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const { type, code, error, data } = value as Record<string, unknown>;
  const own = [type, code].filter((each) => typeof each === 'string').join(' ');
  return `${own} ${typeIn(error)} ${typeIn(data)}`;
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify({ value });
  } catch {
    return String(value);
  }
}
