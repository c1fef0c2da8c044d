import { execFile } from 'node:child_process';

/**
 * What a program of the system prints on both outputs, run with an empty environment; undefined where it fails or takes
 * longer than `timeoutMs`.
 */
export function runProgram(
  path: string,
  words: readonly string[],
  timeoutMs = 10_000,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, env: {}, cwd: '/' };
    execFile(path, words, options, (error, stdout, stderr) =>
      resolve(error ? undefined : `${stdout}${stderr}`),
    );
  });
}
