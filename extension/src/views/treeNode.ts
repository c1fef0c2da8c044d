import type { CommandId } from '../commandIds.ts';
import type { VaultTarget } from '../vault/ui/vaultTarget.ts';

/** One line of a tree view as data, so that trees are built and tested without VS Code. Texts are already plain. */
export interface TreeNode {
  /** Stable over rebuilds and unique in its tree: expansion and selection hang on it. */
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly tooltip?: string;
  /** What a screen reader says: label and description with the state in words. */
  readonly spoken?: string;
  readonly icon?: { readonly name: string; readonly color?: string };
  /** What menus ask for (`viewItem`). */
  readonly kind: string;
  /** What a press on the line does; its argument is the node. */
  readonly command?: { readonly id: CommandId; readonly title: string };
  readonly isExpanded?: boolean;
  readonly children?: readonly TreeNode[] | (() => Promise<readonly TreeNode[]>);
  /** What commands are given: see `commandTarget.ts`. */
  readonly root?: string;
  readonly card?: string;
  readonly runId?: string;
  readonly permissionKey?: string;
  /** A turn and changes of the timeline: see `changeTarget.ts`. */
  readonly group?: string;
  readonly changeIds?: readonly string[];
  /** An app, one of its plugins and a wish of that: see `appTarget.ts`. */
  readonly app?: string;
  readonly plugin?: string;
  readonly wish?: string;
  /** A place's id: see `placeTarget.ts`. */
  readonly place?: string;
  /** A vault, an item, a field or a grant: see `vaultTarget.ts`. */
  readonly vault?: VaultTarget;
}
