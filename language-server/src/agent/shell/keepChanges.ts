import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { FileChange } from '../../../../protocol/src/agent.ts';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Target } from '../../../../protocol/src/gate.ts';
import type { Act, GateResult } from '../../gate/act.ts';
import type { Gate } from '../../gate/gate.ts';
import { resolvePath } from '../../gate/paths.ts';
import type { Journal } from '../../history/journal.ts';
import type { CallContext } from '../tools/tool.ts';
import { changedLines, textOf } from './changeText.ts';
import type { OverlayChange } from './overlayFs.ts';

export interface KeepDeps {
  readonly gate: Pick<Gate, 'pass'>;
  readonly journal: () => Pick<Journal, 'change' | 'keep' | 'look'>;
  /** Which of these absolute paths are open with unsaved changes. */
  readonly dirtyPaths: (paths: readonly string[]) => Promise<readonly string[]>;
}

/**
 * Writes what a shell changed in its memory to the project: one act of its own at the gate, with every path and the
 * whole difference, and through the undo journal. All of it or nothing: what is no longer as the shell saw it is a
 * conflict. The decision of the shell's own call covers none of this.
 */
export async function keepChanges(
  deps: KeepDeps,
  context: CallContext,
  changes: readonly OverlayChange[],
  signal: AbortSignal,
): Promise<GateResult<Json>> {
  const root = realpathSync.native(context.root);
  const described = changes.map(describeChange);
  const act: Act = {
    opId: `${context.opId}.changes`,
    principal: context.principal,
    conversation: context.conversation,
    root: context.root,
    scope: context.scope,
    callId: context.callId,
    tool: 'shell',
    effect: 'write',
    args: changes.map(({ path, content, mode }) => ({
      path,
      content: content === null ? null : hash('sha256', content),
      mode,
    })),
    permissions: [],
    measure: () => Promise.all(changes.map((change) => measureChange(deps, root, change))),
    describe: () => ({
      title: `Keep ${changes.length} ${changes.length === 1 ? 'change' : 'changes'} of a shell command`,
      lines: described.map(({ line }) => line),
      fullText: described.map(({ text }) => text).join('\n'),
    }),
  };
  return deps.gate.pass(act, () => write(deps, context, root, changes), signal);
}

async function measureChange(deps: KeepDeps, root: string, change: OverlayChange): Promise<Target> {
  const { relative, real, isProtected, isOutside } = resolvePath(root, change.path);
  if (relative !== change.path || real === root) {
    throw new UserError('unsafe-path', `${change.path} leads to ${relative}`, { path: change.path });
  }
  const { state } = await deps.journal().look({ base: root, path: change.path });
  return { kind: 'path', name: relative, measure: digestAt(state, change), isProtected, isOutside };
}

type State = Awaited<ReturnType<Journal['look']>>['state'];

/** The digest of what is there, where it is what the shell saw. Throws `conflict` where not. */
function digestAt(state: State, { path, base }: OverlayChange): string | null {
  const seen = base === null ? null : hash('sha256', base.content);
  const there = state.kind === 'file' ? state.digest : null;
  if (seen !== there || (state.kind !== 'file' && state.kind !== 'absent')) {
    throw new UserError('conflict', `${path} was changed while the command ran, so nothing of it was kept`, {
      path,
    });
  }
  return there;
}

async function write(
  deps: KeepDeps,
  context: CallContext,
  root: string,
  changes: readonly OverlayChange[],
): Promise<Json> {
  const journal = deps.journal();
  const dirty = await deps.dirtyPaths(changes.map(({ path }) => `${root}/${path}`));
  if (dirty.length > 0) {
    throw new UserError('conflict', `Open with unsaved changes: ${dirty.join(', ')}. Nothing was kept.`, {});
  }
  const wanted = await Promise.all(
    changes.map(async (change) => {
      const place = { base: root, path: change.path };
      const { state } = await journal.look(place);
      digestAt(state, change);
      const { content, base, mode } = change;
      if (content === null) return { place, to: { kind: 'absent' as const }, expected: state };
      // The system's own mask applies to a new file, but for the one bit that a command sets on purpose.
      const kept = base === null && (mode & 0o111) === 0 ? null : mode === base?.mode ? null : mode;
      const to = { kind: 'file' as const, digest: journal.keep(content).digest, mode: kept };
      return { place, to, expected: state };
    }),
  );
  const { principal, conversation, group, groupTitle } = context;
  const recorded = await journal.change({ root, principal, conversation, group, groupTitle }, wanted);
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const files = recorded.flatMap(({ id, place, kind }): FileChange[] => {
    const change = byPath.get(place.path);
    if (!change) return [];
    const { added, removed } = describeChange(change);
    return [
      {
        changeId: id,
        path: place.path,
        kind: kind === 'mode' ? 'edit' : kind,
        addedLines: added,
        removedLines: removed,
        undone: false,
      },
    ];
  });
  return files.map((file) => ({ ...file }));
}

function describeChange({ path, content, base, mode }: OverlayChange): {
  readonly line: string;
  readonly text: string;
  readonly added: number;
  readonly removed: number;
} {
  const verb = base === null ? 'Create' : content === null ? 'Delete' : 'Change';
  const modes =
    base !== null && content !== null && base.mode !== mode
      ? `, mode ${octal(base.mode)} to ${octal(mode)}`
      : base === null && (mode & 0o111) !== 0
        ? ', executable'
        : '';
  const [before, after] = [textOf(base?.content ?? null), textOf(content)];
  if (before === undefined || after === undefined) {
    const line = `${verb} ${path} (not text, ${base?.content.length ?? 0} to ${content?.length ?? 0} bytes${modes})`;
    return { line, text: line, added: 0, removed: 0 };
  }
  const { added, removed, from } = changedLines(before, after);
  const line = `${verb} ${path} (+${added.length} −${removed.length} lines${modes})`;
  const text = [
    line,
    `@@ line ${from} @@`,
    ...removed.map((each) => `-${each}`),
    ...added.map((each) => `+${each}`),
  ];
  return { line, text: text.join('\n'), added: added.length, removed: removed.length };
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, '0');
}
