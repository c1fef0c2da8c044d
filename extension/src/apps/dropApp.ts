import { Uri, type DataTransfer, type TreeDragAndDropController } from 'vscode';
import { appNotices } from '../appMessages.ts';
import type { Notifier } from '../notifier.ts';
import type { TreeNode } from '../views/treeNode.ts';

const uriList = 'text/uri-list';

/** Takes one folder, archive or backup that is dropped on the Apps view. It is reviewed like any other. */
export function createAppDrop(
  notifier: Notifier,
  install: (path: string) => Promise<unknown>,
): TreeDragAndDropController<TreeNode> {
  return {
    dragMimeTypes: [],
    dropMimeTypes: [uriList],
    handleDrop: async (_target, transfer: DataTransfer) => {
      try {
        const addresses = parseUriList((await transfer.get(uriList)?.asString()) ?? '');
        const [address] = addresses;
        if (address === undefined) return;
        const uri = Uri.parse(address, true);
        if (addresses.length > 1) notifier.show(appNotices.notOneApp(addresses.length));
        else if (uri.scheme !== 'file') notifier.show(appNotices.notHere(address));
        else await install(uri.fsPath);
      } catch (error) {
        notifier.showError(error);
      }
    },
  };
}

/** The addresses of a `text/uri-list` (RFC 2483 §5), comments left out. */
export function parseUriList(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
