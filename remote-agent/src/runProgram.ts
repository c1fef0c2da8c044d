import { execFile } from 'node:child_process';

/** What a program of the system prints on both outputs, run with an empty environment; undefined where it fails. */
export function runProgram(path: string, words: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: 30_000, env: {}, cwd: '/' };
    execFile(path, words, options, (error, stdout, stderr) =>
      resolve(error ? undefined : `${stdout}${stderr}`),
    );
  });
}
