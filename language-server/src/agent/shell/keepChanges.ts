import { hash } from 'node:crypto';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { GateResult } from '../../gate/act.ts';
import type { Gate } from '../../gate/gate.ts';
import { absolutePath } from '../../history/place.ts';
import type { Journal } from '../../history/journal.ts';
import { prepareChanges, type PlannedFile } from '../tools/fileChanges.ts';
import type { CallContext, ToolOutput } from '../tools/tool.ts';
import { stateAt, toolPath } from '../tools/toolPath.ts';
import type { OverlayChange } from './overlayFs.ts';

export interface KeepDeps {
  readonly gate: Pick<Gate, 'pass'>;
  readonly journal: () => Journal;
  /** Which of these absolute paths are open with unsaved changes. */
  readonly dirtyPaths: (paths: readonly string[]) => Promise<readonly string[]>;
}

/**
 * Writes what a shell changed in its memory to the project: one act of its own at the gate, with every path and the
 * whole difference, and through the undo journal. All of it or nothing: what is not as the shell saw it is a conflict.
 * The decision of the shell's own call covers none of this. Rejects with `UserError` where it can't even be asked for.
 */
export async function keepChanges(
  deps: KeepDeps,
  context: CallContext,
  changes: readonly OverlayChange[],
  signal: AbortSignal,
): Promise<GateResult<ToolOutput & { readonly [key: string]: Json }>> {
  assertReviewable(changes);
  const files = await Promise.all(changes.map((change) => planFile(context.root, change)));
  const prepared = prepareChanges({
    context,
    journal: deps.journal(),
    args: changes.map(({ path, content, mode }) => ({
      path,
      content: content === null ? null : hash('sha256', content),
      mode,
    })),
    title: `Keep ${files.length} ${files.length === 1 ? 'change' : 'changes'} of a shell command`,
    files,
    lines: changes.flatMap(({ path, content, mode, base }) =>
      content !== null && mode !== (base?.mode ?? mode & ~0o111)
        ? [`mode of ${path}: ${base === null ? 'executable' : `${octal(base.mode)} to ${octal(mode)}`}`]
        : [],
    ),
  });
  const { opId, callId, principal, conversation, root, scope } = context;
  const act = {
    ...{ opId: `${opId}.changes`, callId, principal, conversation, root, scope },
    tool: 'shell',
    effect: 'write' as const,
    args: prepared.args,
    permissions: prepared.permissions,
    measure: () => prepared.measure(),
    describe: prepared.describe.bind(prepared),
  };
  return deps.gate.pass(
    act,
    async (each) => {
      const dirty = await deps.dirtyPaths(files.map(({ path }) => absolutePath(path.place)));
      if (dirty.length > 0)
        throw new UserError('conflict', `open with unsaved changes: ${dirty.join(', ')}`, {});
      return JSON.parse(JSON.stringify(await prepared.run(each))) as ToolOutput & Record<string, Json>;
    },
    signal,
  );
}

/** More than this no person reads, and one command has no need of. */
const mostChanges = 1000;
const mostBytes = 8 * 1024 * 1024;

function assertReviewable(changes: readonly OverlayChange[]): void {
  const bytes = changes.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  if (changes.length <= mostChanges && bytes <= mostBytes) return;
  throw new UserError(
    'too-large',
    `${changes.length} changed files with ${bytes} bytes are more than one review holds (${mostChanges} files, ${mostBytes} bytes)`,
    {},
  );
}

async function planFile(
  root: string,
  { path: asked, content, mode, base }: OverlayChange,
): Promise<PlannedFile> {
  const path = toolPath(root, asked);
  if (path.relative !== asked)
    throw new UserError('unsafe-path', `${asked} leads to ${path.real}`, { path: asked });
  const before = await stateAt(path.place);
  const there = before.kind === 'file' ? before.digest : before.kind;
  if (there !== (base === null ? 'absent' : hash('sha256', base.content)))
    throw new UserError('conflict', `${asked} was changed while the command ran`, { path: asked });
  if (content === null)
    return { path, before, beforeBytes: base?.content ?? null, after: { kind: 'absent' } };
  // A new file gets the system's own mask but for the one bit that a command sets on purpose.
  const isKept = base === null ? (mode & 0o111) === 0 : mode === base.mode;
  return {
    path,
    before,
    beforeBytes: base?.content ?? null,
    after: { kind: 'bytes', bytes: content, mode: isKept ? null : mode },
  };
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, '0');
}
