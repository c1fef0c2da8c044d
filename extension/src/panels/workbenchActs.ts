import { Uri, window } from 'vscode';
import type { FileChange, Item } from '../../../protocol/src/agent.ts';
import type { ParamsOf } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { workbenchHost } from '../../../protocol/src/workbench.ts';
import { commandIds, type CommandId } from '../commandIds.ts';
import type { CommandRegistry } from '../commandRegistry.ts';
import type { Engine } from '../engine.ts';
import { size } from '../figures.ts';
import type { ChangeDocuments } from '../history/changeDocuments.ts';
import { plain } from '../plainText.ts';
import { openWebLink } from './openWebLink.ts';
import { workbenchWords as words } from './workbenchWords.ts';

export type ActParams = ParamsOf<(typeof workbenchHost.requests)['workbench/act']>;

/** What an act is about: the project, the shown conversation and its rows. */
export interface ActScene {
  readonly root: string;
  readonly conversation: string | null;
  readonly title: (id: string) => string;
  /** A row of a conversation as the engine has it; undefined where there is none. */
  readonly row: (conversation: string, seq: number) => Promise<Item | undefined>;
  readonly open: (id: string) => Promise<void>;
  readonly forget: (id: string) => Promise<void>;
}

export interface ActServices {
  readonly engine: Engine;
  readonly commands: CommandRegistry;
  readonly changeDocuments: ChangeDocuments;
}

/**
 * The acts of the workbench's page. The page names rows and what it found in them; paths, runs and commands are looked up
 * in the rows that the engine gave, so that a page can name nothing else. Whatever opens a door asks in native UI.
 */
export function workbenchActs({ engine, commands, changeDocuments }: ActServices) {
  const run = (id: CommandId, target: object): Promise<void> => {
    // Not awaited: it may ask a person. The registry shows what goes wrong.
    void commands.run(id, target);
    return Promise.resolve();
  };
  return async ({ act, id, seq, value }: ActParams, scene: ActScene): Promise<void> => {
    const { root } = scene;
    const conversation = id ?? scene.conversation ?? '';
    const row = seq === null ? undefined : await scene.row(conversation, seq);
    const group = { root, group: `${conversation}:turn:${row?.turn ?? 0}` };
    switch (act) {
      case 'connect':
        return run('sallyport.connectModel', {});
      case 'newProject':
        return run('sallyport.newProject', {});
      case 'trust':
        return commands.runBuiltin('workbench.trust.manage');
      case 'review':
        return run('sallyport.reviewWaiting', {});
      case 'grants':
        return run('sallyport.showGrants', { root });
      case 'showSent':
        return run('sallyport.showSent', { root, conversation });
      case 'undoTurn':
        return run('sallyport.undoChanges', group);
      case 'redoTurn':
        return run('sallyport.redoChanges', group);
      case 'undoFile':
        return run('sallyport.undoChanges', { root, changeIds: [changeOf(row, value).changeId] });
      case 'openDiff': {
        const change = changeOf(row, value);
        return changeDocuments.openDiff({ id: change.changeId, path: change.path });
      }
      case 'openFile':
        return openFile(commands, root, pathOf(row, value));
      case 'openRun':
        return run('sallyport.openRun', { root, runId: runOf(row) });
      case 'openLink':
        return openLink(value);
      case 'compact':
        await engine.call('conversation/compact', { id: conversation });
        return;
      case 'fork': {
        const forked = await engine.call('conversation/fork', { id: conversation, seq: seq ?? 0 });
        return scene.open(forked.id);
      }
      case 'rename': {
        const title = await window.showInputBox({
          title: words.renameTitle(),
          value: scene.title(conversation),
        });
        if (title !== undefined && title.trim() !== '') {
          await engine.call('conversation/configure', { id: conversation, title: title.trim() });
        }
        return;
      }
      case 'delete': {
        const question = words.deleteQuestion(scene.title(conversation));
        const button = words.deleteButton();
        const options = { modal: true, detail: words.deleteDetail() };
        if ((await window.showWarningMessage(question, options, button)) !== button) return;
        await engine.call('conversation/delete', { id: conversation });
        return scene.forget(conversation);
      }
      case 'rules':
        return showRules(engine, commands, root);
      case 'notice':
        return run(noticeCommand(row), { root, conversation });
    }
  };
}

function changesOf(row: Item | undefined): readonly FileChange[] {
  return row?.kind === 'tool' ? row.changes : [];
}

function changeOf(row: Item | undefined, changeId: string): FileChange {
  return changesOf(row).find((change) => change.changeId === changeId) ?? notShown();
}

function pathOf(row: Item | undefined, path: string): string {
  return changesOf(row).find((change) => change.path === path)?.path ?? notShown();
}

function runOf(row: Item | undefined): string {
  return (row?.kind === 'tool' ? row.runId : null) ?? notShown();
}

/** Only Sallyport's own commands, and only the one that the engine offered in this row. */
function noticeCommand(row: Item | undefined): CommandId {
  const named = row?.kind === 'notice' ? row.action?.command : undefined;
  return commandIds.find((id) => id === named) ?? notShown();
}

function notShown(): never {
  throw new UserError('not-found', words.nothingShown());
}

async function openFile(commands: CommandRegistry, root: string, path: string): Promise<void> {
  await commands.runBuiltin('vscode.open', Uri.joinPath(Uri.file(root), path), { preview: true });
}

/** What a page calls a link may be anything. */
async function openLink(address: string): Promise<void> {
  const url = URL.parse(address);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return;
  await openWebLink(url, words.openLinkQuestion(url.host));
}

async function showRules(engine: Engine, commands: CommandRegistry, root: string): Promise<void> {
  const rules = await engine.call('conversation/rules', { root });
  const chosen = await window.showQuickPick(
    rules.map(({ path, sizeBytes, hiddenCharacters }) => ({
      label: hiddenCharacters > 0 ? `$(warning) ${plain(path)}` : plain(path),
      description: [
        size(sizeBytes),
        ...(hiddenCharacters > 0 ? [words.hiddenCharacters(hiddenCharacters)] : []),
      ].join(' · '),
      path,
    })),
    { title: words.rulesTitle(), placeHolder: rules.length === 0 ? words.noRules() : words.rulesTitle() },
  );
  if (chosen) await openFile(commands, root, chosen.path);
}
