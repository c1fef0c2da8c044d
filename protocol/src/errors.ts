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

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && (errorCodes as readonly string[]).includes(value);
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
