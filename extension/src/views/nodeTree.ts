import {
  EventEmitter,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  type TreeDataProvider,
} from 'vscode';
import type { TreeNode } from './treeNode.ts';

/** Shows tree nodes. Changes that come close together are drawn once. */
export class NodeTree implements TreeDataProvider<TreeNode> {
  readonly #roots: () => readonly TreeNode[] | Promise<readonly TreeNode[]>;
  readonly #changed = new EventEmitter<undefined>();
  #timer: NodeJS.Timeout | undefined;

  constructor(roots: () => readonly TreeNode[] | Promise<readonly TreeNode[]>) {
    this.#roots = roots;
  }

  readonly onDidChangeTreeData = this.#changed.event;

  refresh(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#changed.fire(undefined);
    }, drawDelayMs);
  }

  getTreeItem(node: TreeNode): TreeItem {
    const item = new TreeItem(node.label, collapsibleState(node));
    item.id = node.id;
    item.contextValue = node.kind;
    if (node.description !== undefined) item.description = node.description;
    item.tooltip = node.tooltip ?? node.label;
    if (node.icon)
      item.iconPath = new ThemeIcon(
        node.icon.name,
        node.icon.color === undefined ? undefined : new ThemeColor(node.icon.color),
      );
    item.accessibilityInformation = {
      label: node.spoken ?? [node.label, node.description ?? ''].filter((text) => text !== '').join(', '),
    };
    if (node.command)
      item.command = { command: node.command.id, title: node.command.title, arguments: [node] };
    return item;
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (!node) return [...(await this.#roots())];
    const { children } = node;
    return [...(typeof children === 'function' ? await children() : (children ?? []))];
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#changed.dispose();
  }
}

const drawDelayMs = 50;

function collapsibleState(node: TreeNode): TreeItemCollapsibleState {
  if (!node.children) return TreeItemCollapsibleState.None;
  return node.isExpanded ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed;
}
