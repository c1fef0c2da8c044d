import type { BatchTold } from './batchSystem.ts';

export interface BatchScript {
  /** The Node that this runs on; looked for first. */
  readonly node: string;
  /** The runner's file in the shared folder. */
  readonly program: string;
  /** The shared folder. */
  readonly home: string;
  readonly name: string;
  readonly told: BatchTold;
}

/**
 * What the batch system runs on a node, for a POSIX shell. It holds paths and a name of ours, and nothing of the card:
 * whoever may read scripts in the queue learns no more.
 */
export function batchScript({ node, program, home, name, told }: BatchScript): string {
  return [
    '#!/bin/sh',
    'umask 077',
    `exec </dev/null >>${quote(`${home}/runs/${name}.`)}"${told.index}".said 2>&1 || exit 1`,
    // Sandboxes are made of folders that their users must be able to pass through.
    'umask 022',
    `for node in ${quote(node)} "$(command -v node)" /usr/local/bin/node /usr/bin/node; do`,
    `  [ -n "$node" ] && [ -x "$node" ] && exec "$node" ${quote(program)} batch once --home ${quote(home)} --submit ${name} --index "${told.index}" --task "${told.task}" --restart "${told.restart}"`,
    'done',
    'echo "There is no Node.js on $(hostname)"',
    'exit 1',
    '',
  ].join('\n');
}

/** One word of a POSIX shell, whatever is in it. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
