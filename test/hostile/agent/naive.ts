import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Call } from './case.ts';

const run = promisify(execFile);

/**
 * The effect of a call as tools had it that public reports are about: the path as it is spelt, links followed, a shell
 * of this machine with its environment, any address. Answers with what a model would be told.
 */
export async function runNaively(root: string, { tool, args }: Call): Promise<string> {
  const given: Readonly<Record<string, unknown>> = typeof args === 'string' ? parse(args) : args;
  const text = (name: string): string => {
    const value = given[name];
    if (typeof value !== 'string') throw new Error(`A naive ${tool} needs ${name}`);
    return value;
  };
  const at = (name: string) => {
    const path = join(root, text(name));
    mkdirSync(dirname(path), { recursive: true });
    return path;
  };
  switch (tool) {
    case 'create':
      writeFileSync(at('path'), text('text'));
      return 'done';
    case 'edit':
      writeFileSync(at('path'), `${text('path')} as the model wants it`);
      return 'done';
    case 'read':
      return readFileSync(at('path'), 'utf8');
    case 'delete':
      rmSync(at('path'), { recursive: true });
      return 'done';
    case 'rename':
      renameSync(at('from'), at('to'));
      return 'done';
    case 'web_fetch':
      return fetch(text('url')).then(
        (answer) => answer.text(),
        (error: unknown) => String(error),
      );
    case 'shell':
    case 'project_shell': {
      const { stdout, stderr } = await run('bash', ['-c', text('command')], { cwd: root }).catch(
        (error: unknown) => error as { stdout: string; stderr: string },
      );
      return stdout + stderr;
    }
    default:
      throw new Error(`There is no naive ${tool}`);
  }
}

function parse(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}
