import * as fs from 'node:fs';

/** The calls of `node:fs` that a vault makes, one by one, so that a test can fail or end the process at each. */
export type VaultFiles = Pick<
  typeof fs,
  | 'openSync'
  | 'closeSync'
  | 'writeSync'
  | 'readSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'ftruncateSync'
  | 'renameSync'
  | 'unlinkSync'
  | 'mkdirSync'
  | 'readdirSync'
>;

export const nodeFiles: VaultFiles = fs;
