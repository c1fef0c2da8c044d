import { errorMessage, UserError } from '../../../protocol/src/errors.ts';

/** The code of a failed system call (`ENOENT`), or the empty string. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * Turns a failed system call into the error that is shown: `disk-full` where space or quota ran out, else
 * `unreadable`. A `UserError` passes through. `path` is named in the text and in `data.path`.
 */
export function toFileError(error: unknown, doing: string, path: string): UserError {
  if (error instanceof UserError) return error;
  const code = systemCode(error);
  const data = { path, systemCode: code };
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new UserError('disk-full', `Failed to ${doing} ${path}: the disk is full`, data, { cause: error });
  }
  return new UserError('unreadable', `Failed to ${doing} ${path}: ${code || errorMessage(error)}`, data, {
    cause: error,
  });
}
