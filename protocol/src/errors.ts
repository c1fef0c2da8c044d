/**
 * Errors that cross a process boundary. `UserError` is meant to be shown: its `code` chooses the words
 * (`extension/src/messages.ts`), `data` fills them in. Everything else is logged and shown as one general sentence.
 */
export const errorCodes = [
  'bad-message',
  'cancelled',
  'closed',
  'timeout',
  'too-large',
  'internal',
  'not-found',
  'conflict',
  'not-trusted',
  'no-project',
  'bad-project',
  'bad-app',
  'permission-needed',
  'isolation-missing',
  'interpreter-missing',
  'store-damaged',
  'disk-full',
  'unreadable',
  'unsafe-path',
  'unreachable',
  'host-key',
  'sign-in',
  'incompatible',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** Facts for the words of an error: file names, values, remedies. Strings, numbers and lists of strings only. */
export type ErrorData = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** An error that a person may be shown as it is. Code looks at `code`, never at the words. */
export class UserError extends Error {
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, message: string, data: ErrorData = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UserError';
    this.code = code;
    this.data = data;
  }
}

/** Tells codes of the contract from anything else that a peer may send. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && (errorCodes as readonly string[]).includes(value);
}

/** What of a value from a peer is data of an error; what is not is left out. */
export function toErrorData(value: unknown): ErrorData {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, each]) => isErrorDatum(each)));
}

function isErrorDatum(value: unknown): boolean {
  return Array.isArray(value)
    ? value.every((each) => typeof each === 'string')
    : ['string', 'number', 'boolean'].includes(typeof value);
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
