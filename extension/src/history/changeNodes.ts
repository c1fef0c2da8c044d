import type { Change } from '../../../protocol/src/agent.ts';
import { timelineWords } from '../agentMessages.ts';
import { shortTimestamp, size, timestamp } from '../figures.ts';
import { plain } from '../plainText.ts';
import type { TreeNode } from '../views/treeNode.ts';

/** The changes of a project by turn, then by file, newest first as the engine gives them. */
export function changeNodes(
  root: string,
  changes: readonly Change[],
  { now, projectName }: { readonly now: number; readonly projectName: string | undefined },
): TreeNode[] {
  const groups = new Map<string, Change[]>();
  for (const change of changes) groups.set(change.group, [...(groups.get(change.group) ?? []), change]);
  return [...groups].map(([group, members]) => groupNode(root, group, members, { now, projectName }));
}

function groupNode(
  root: string,
  group: string,
  members: readonly Change[],
  { now, projectName }: { readonly now: number; readonly projectName: string | undefined },
): TreeNode {
  const [first] = members;
  const undone = members.filter((change) => change.undone).length;
  const at = first?.at ?? 0;
  const description = [
    shortTimestamp(at, now),
    timelineWords.changes(members.length),
    size(members.reduce((sum, change) => sum + change.sizeBytes, 0)),
    ...(undone > 0 ? [timelineWords.undoneOf(undone, members.length)] : []),
    ...(projectName === undefined ? [] : [plain(projectName)]),
  ].join(' · ');
  const label = plain(first?.groupTitle ?? '') || timelineWords.untitled();
  const who = timelineWords.by(first?.principal ?? '');
  const files = new Map<string, Change[]>();
  for (const change of members) files.set(change.path, [...(files.get(change.path) ?? []), change]);
  return {
    id: `${root}\n${group}`,
    label,
    description,
    tooltip: `${label}\n${who}\n${timestamp(at)}\n${description}`,
    spoken: `${label}, ${who}, ${description}`,
    icon: { name: undone === members.length ? 'discard' : 'edit' },
    kind: `turn.${stateOf(members)}`,
    root,
    group,
    children: [...files].map(([path, each]) => fileNode(root, group, path, each)),
  };
}

/** One file of a turn. With several changes they stand below it, and the file is undone and redone as a whole. */
function fileNode(root: string, group: string, path: string, changes: readonly Change[]): TreeNode {
  const [only] = changes;
  if (changes.length === 1 && only) return changeNode(root, only, plain(path));
  return {
    id: `${root}\n${group}\n${path}`,
    label: plain(path),
    description: timelineWords.changes(changes.length),
    icon: { name: 'file' },
    kind: `file.${stateOf(changes)}`,
    root,
    changeIds: changes.map(({ id }) => id),
    children: changes.map((change) => changeNode(root, change, timelineWords.kind(change.kind))),
  };
}

function changeNode(root: string, change: Change, label: string): TreeNode {
  const description = [
    timelineWords.kind(change.kind),
    size(change.sizeBytes),
    ...(change.undone ? [timelineWords.undone()] : []),
  ].join(' · ');
  return {
    id: `${root}\n${change.id}`,
    label,
    description,
    tooltip: `${plain(change.path)}\n${timestamp(change.at)}\n${description}`,
    icon: { name: icons[change.kind] },
    kind: `change.${stateOf([change])}`,
    command: { id: 'sallyport.openChange', title: timelineWords.openChange() },
    root,
    changeIds: [change.id],
  };
}

const icons: Readonly<Record<Change['kind'], string>> = {
  create: 'diff-added',
  edit: 'diff-modified',
  delete: 'diff-removed',
  rename: 'diff-renamed',
  mode: 'gear',
};

function stateOf(changes: readonly Change[]): 'done' | 'undone' | 'mixed' {
  const undone = changes.filter((change) => change.undone).length;
  return undone === 0 ? 'done' : undone === changes.length ? 'undone' : 'mixed';
}
