import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path/posix';
import { Uri, workspace, type TextDocumentContentProvider } from 'vscode';
import type { Change } from '../../../protocol/src/agent.ts';
import { timelineWords } from '../agentMessages.ts';
import type { CommandRegistry } from '../commandRegistry.ts';
import type { Disposable } from '../disposable.ts';
import type { Engine } from '../engine.ts';
import { size } from '../figures.ts';
import { plain } from '../plainText.ts';

const changeScheme = 'sallyport-change';

/** Larger sides are not put into an editor. */
const shownBytes = 16 * 1024 * 1024;

/**
 * Languages whose services fetch nothing for a document. JSON, YAML, XML and TOML are not among them: a `$schema` or a
 * DTD of an unreviewed text would be fetched from wherever it points.
 */
const quietExtensions = new Set(
  'c cc cpp cs css csv cjs go h hpp java jl js jsx kt lua md mjs php pl ps1 py r rb rs sh sql swift ts tsx txt'
    .split(' ')
    .map((each) => `.${each}`),
);

/** Both sides of a change as read-only documents, compared in VS Code's own diff editor. */
export class ChangeDocuments implements TextDocumentContentProvider, Disposable {
  readonly #engine: Engine;
  readonly #commands: CommandRegistry;
  readonly #registration: Disposable;

  constructor(engine: Engine, commands: CommandRegistry) {
    this.#engine = engine;
    this.#commands = commands;
    this.#registration = workspace.registerTextDocumentContentProvider(changeScheme, this);
  }

  async openDiff({ id, path }: Pick<Change, 'id' | 'path'>): Promise<void> {
    await this.#commands.runBuiltin(
      'vscode.diff',
      changeUri(id, 'before', path),
      changeUri(id, 'after', path),
      timelineWords.diffTitle(plain(path)),
      { preview: true },
    );
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const { changeId, side } = parseUri(uri);
    const { path } = await this.#engine.call('history/locate', { changeId, side });
    if (path === null) return '';
    const { size: bytes } = await stat(path);
    if (bytes > shownBytes) return timelineWords.tooLarge(size(bytes));
    const content = await readFile(path);
    return content.includes(0) ? timelineWords.binary(size(bytes)) : content.toString('utf8');
  }

  dispose(): void {
    this.#registration.dispose();
  }
}

function changeUri(changeId: string, side: 'before' | 'after', path: string): Uri {
  const name = quietExtensions.has(extname(path).toLowerCase()) ? path : `${path}.txt`;
  return Uri.from({ scheme: changeScheme, path: `/${name}`, query: `${side}=${changeId}` });
}

function parseUri({ query }: Uri): { changeId: string; side: 'before' | 'after' } {
  const [side, ...rest] = query.split('=');
  return { changeId: rest.join('='), side: side === 'before' ? 'before' : 'after' };
}
