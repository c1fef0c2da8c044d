import { readFile, stat } from 'node:fs/promises';

/** As much of `vscode` as unit tests of the extension need. Tests read and set `stub`; `resetStub` clears it. */

interface Shown {
  readonly severity: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly buttons: readonly string[];
}

interface Stub {
  shown: Shown[];
  /** The button that a person presses on the next messages. */
  answer: string | undefined;
  commands: Map<string, (...args: unknown[]) => unknown>;
  executed: { id: string; args: unknown[] }[];
  isTrusted: boolean;
  settings: Record<string, unknown>;
  picks: StubPick[];
  boxes: StubBox[];
  /** What a person chooses in the next `showQuickPick` lists: by label, several for a list of many, or nothing. */
  chosen: (string | readonly string[] | undefined)[];
  /** The lists that `showQuickPick` was given. */
  lists: StubItem[][];
  statusItems: StubStatusItem[];
  documents: { isDirty: boolean; uri: { scheme: string; fsPath: string } }[];
  /** The models that VS Code offers. */
  models: object[];
  /** The tools that VS Code knows, and the calls of them. */
  tools: { name: string; tags: string[]; description: string }[];
  invoked: { name: string; options: unknown }[];
  /** What a person answers to the next dialogs for files: a path, or nothing. */
  files: (string | undefined)[];
  /** What progress was shown: titles, and what was reported under them. */
  progress: { title: string; reported: unknown[]; cancel: () => void }[];
  treeViews: StubTreeView[];
  /** The options of the terminals that were made. */
  terminals: { name: string; pty: unknown }[];
  /** Buttons that a person presses wherever they are offered, beside `answer`. */
  answers: string[];
  clipboard: string;
  /** Settings that were written. */
  written: { name: string; value: unknown }[];
}

type StubItem = StubPick['items'][number];

export const stub: Stub = fresh();

export function resetStub(): void {
  Object.assign(stub, fresh());
}

function fresh(): Stub {
  return {
    shown: [],
    answer: undefined,
    commands: new Map(),
    executed: [],
    isTrusted: true,
    settings: {},
    picks: [],
    boxes: [],
    chosen: [],
    lists: [],
    statusItems: [],
    documents: [],
    answers: [],
    clipboard: '',
    models: [],
    tools: [],
    invoked: [],
    files: [],
    progress: [],
    treeViews: [],
    terminals: [],
    written: [],
  };
}

export const l10n = {
  t: (text: string, ...args: unknown[]): string =>
    text.replace(/\{(\d+)\}/g, (all, index: string) =>
      Number(index) in args ? String(args[Number(index)]) : all,
    ),
};

export class EventEmitter<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void): { dispose(): void } => {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class ThemeIcon {
  readonly id: string;
  readonly color: ThemeColor | undefined;
  constructor(id: string, color?: ThemeColor) {
    this.id = id;
    this.color = color;
  }
}

export class ThemeColor {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export class TreeItem {
  readonly label: string;
  readonly collapsibleState: number;
  constructor(label: string, collapsibleState = 0) {
    this.label = label;
    this.collapsibleState = collapsibleState;
  }
}

export class StubPick {
  title = '';
  placeholder = '';
  canSelectMany = false;
  ignoreFocusOut = false;
  matchOnDescription = false;
  items: readonly { label: string; kind?: number; description?: string; detail?: string }[] = [];
  selectedItems: readonly unknown[] = [];
  activeItems: readonly unknown[] = [];
  buttons: readonly unknown[] = [];
  value = '';
  step = 0;
  totalSteps = 0;
  isShown = false;
  readonly accepted = new EventEmitter<undefined>();
  readonly hidden = new EventEmitter<undefined>();
  readonly pressed = new EventEmitter<{ item: unknown }>();
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  readonly onDidTriggerItemButton = this.pressed.event;
  readonly triggered = new EventEmitter<unknown>();
  readonly onDidTriggerButton = this.triggered.event;
  readonly typed = new EventEmitter<string>();
  readonly onDidChangeValue = this.typed.event;
  show(): void {
    this.isShown = true;
  }
  /** A person chooses the line that begins so; throws where there is none. */
  choose(label: string): void {
    const item = this.items.find((each) => each.label.startsWith(label) && each.kind !== -1);
    if (!item) throw new Error(`No line “${label}” in: ${this.items.map((each) => each.label).join(' | ')}`);
    this.selectedItems = [item];
    this.accepted.fire(undefined);
  }
  dispose(): void {
    if (!this.isShown) return;
    this.isShown = false;
    this.hidden.fire(undefined);
  }
}

export class StubBox {
  title = '';
  prompt = '';
  placeholder = '';
  value = '';
  password = false;
  ignoreFocusOut = false;
  validationMessage: string | undefined;
  buttons: readonly unknown[] = [];
  step = 0;
  totalSteps = 0;
  isShown = false;
  readonly accepted = new EventEmitter<undefined>();
  readonly onDidAccept = this.accepted.event;
  readonly hidden = new EventEmitter<undefined>();
  readonly onDidHide = this.hidden.event;
  readonly typed = new EventEmitter<string>();
  readonly onDidChangeValue = this.typed.event;
  readonly triggered = new EventEmitter<unknown>();
  readonly onDidTriggerButton = this.triggered.event;
  show(): void {
    this.isShown = true;
  }
  enter(text: string): void {
    this.value = text;
    this.typed.fire(text);
    this.accepted.fire(undefined);
  }
  dispose(): void {
    if (!this.isShown) return;
    this.isShown = false;
    this.hidden.fire(undefined);
  }
}

export class StubStatusItem {
  text = '';
  name = '';
  tooltip = '';
  command = '';
  backgroundColor: unknown;
  accessibilityInformation: { label: string } | undefined;
  isShown = false;
  show(): void {
    this.isShown = true;
  }
  hide(): void {
    this.isShown = false;
  }
  dispose(): void {
    this.isShown = false;
  }
}

export class StubTreeView {
  readonly options: object;
  description: string | undefined;
  badge: { value: number; tooltip: string } | undefined;
  visible = true;
  readonly shown = new EventEmitter<undefined>();
  readonly onDidChangeVisibility = this.shown.event;
  constructor(options: object) {
    this.options = options;
  }
  dispose(): void {
    this.shown.dispose();
  }
}

async function message(
  severity: Shown['severity'],
  text: string,
  ...rest: unknown[]
): Promise<string | undefined> {
  const buttons = rest.filter((each) => typeof each === 'string');
  stub.shown.push({ severity, text, buttons });
  return buttons.find((each) => each === stub.answer || stub.answers.includes(each));
}

export const window = {
  showInformationMessage: (text: string, ...rest: unknown[]) => message('info', text, ...rest),
  showWarningMessage: (text: string, ...rest: unknown[]) => message('warning', text, ...rest),
  showErrorMessage: (text: string, ...rest: unknown[]) => message('error', text, ...rest),
  createQuickPick: (): StubPick => {
    const pick = new StubPick();
    stub.picks.push(pick);
    return pick;
  },
  createInputBox: (): StubBox => {
    const box = new StubBox();
    stub.boxes.push(box);
    return box;
  },
  showQuickPick: async (items: StubItem[], options: { canPickMany?: boolean } = {}) => {
    stub.lists.push(items);
    const wanted = stub.chosen.shift();
    const found = items.filter((item) =>
      [wanted].flat().some((label) => label && item.label.startsWith(label)),
    );
    return options.canPickMany ? (wanted === undefined ? undefined : found) : found[0];
  },
  createTerminal: (options: { name: string; pty: unknown }) => {
    stub.terminals.push(options);
    return { show: () => undefined };
  },
  createStatusBarItem: (): StubStatusItem => {
    const item = new StubStatusItem();
    stub.statusItems.push(item);
    return item;
  },
  createTreeView: (_id: string, options: object): StubTreeView => {
    const view = new StubTreeView(options);
    stub.treeViews.push(view);
    return view;
  },
  showOpenDialog: async () => {
    const path = stub.files.shift();
    return path === undefined ? undefined : [Uri.file(path)];
  },
  showSaveDialog: async () => {
    const path = stub.files.shift();
    return path === undefined ? undefined : Uri.file(path);
  },
  withProgress: (options: { title?: string }, work: (progress: object, token: object) => unknown) => {
    const cancelled = new EventEmitter<undefined>();
    const shown = {
      title: options.title ?? '',
      reported: [] as unknown[],
      cancel: () => cancelled.fire(undefined),
    };
    stub.progress.push(shown);
    return work(
      { report: (value: unknown) => void shown.reported.push(value) },
      { onDidCancel: () => undefined, onCancellationRequested: cancelled.event },
    );
  },
  tabGroups: { all: [], close: async () => true },
};

export class TabInputText {
  readonly uri: unknown;
  constructor(uri: unknown) {
    this.uri = uri;
  }
}

export const commands = {
  registerCommand: (id: string, handler: (...args: unknown[]) => unknown) => {
    stub.commands.set(id, handler);
    return { dispose: () => void stub.commands.delete(id) };
  },
  executeCommand: async (id: string, ...args: unknown[]) => {
    stub.executed.push({ id, args });
  },
};

export const workspace = {
  fs: {
    stat: async ({ fsPath }: { fsPath: string }) => ({ size: (await stat(fsPath)).size }),
    readFile: async ({ fsPath }: { fsPath: string }) => new Uint8Array(await readFile(fsPath)),
  },
  get isTrusted(): boolean {
    return stub.isTrusted;
  },
  getConfiguration: (section: string) => ({
    get: (name: string) => stub.settings[`${section}.${name}`],
    update: async (name: string, value: unknown) => {
      stub.written.push({ name: `${section}.${name}`, value });
      stub.settings[`${section}.${name}`] = value;
    },
  }),
  onDidGrantWorkspaceTrust: new EventEmitter<undefined>().event,
  onDidChangeConfiguration: new EventEmitter<{ affectsConfiguration(name: string): boolean }>().event,
  registerTextDocumentContentProvider: () => ({ dispose: () => undefined }),
  onDidCloseTextDocument: new EventEmitter<undefined>().event,
  getWorkspaceFolder: () => ({}),
  get textDocuments() {
    return stub.documents;
  },
};

export const lm = {
  get tools() {
    return stub.tools;
  },
  invokeTool: async (name: string, options: unknown) => {
    stub.invoked.push({ name, options });
    return { content: [new LanguageModelTextPart(`result of ${name}`)] };
  },
  selectChatModels: async () => stub.models,
  onDidChangeChatModels: new EventEmitter<undefined>().event,
  registerTool: () => ({ dispose: () => undefined }),
};
export const chat = { createChatParticipant: () => ({ dispose: () => undefined }) };
export const QuickInputButtons = { Back: { tooltip: 'Back' } } as const;

export class LanguageModelTextPart {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
}
export class LanguageModelToolCallPart {
  readonly callId: string;
  readonly name: string;
  readonly input: object;
  constructor(callId: string, name: string, input: object) {
    this.callId = callId;
    this.name = name;
    this.input = input;
  }
}
export class LanguageModelToolResultPart {
  readonly callId: string;
  readonly content: readonly unknown[];
  constructor(callId: string, content: readonly unknown[]) {
    this.callId = callId;
    this.content = content;
  }
}
export class LanguageModelToolResult {
  readonly content: readonly unknown[];
  constructor(content: readonly unknown[]) {
    this.content = content;
  }
}
export const LanguageModelDataPart = {
  image: (data: Uint8Array, mime: string) => ({ data, mime }),
};
export const LanguageModelChatMessageRole = { User: 1, Assistant: 2 } as const;
export class LanguageModelChatMessage {
  readonly role: number;
  readonly content: unknown;
  constructor(role: number, content: unknown) {
    this.role = role;
    this.content = content;
  }
  static User(content: unknown): LanguageModelChatMessage {
    return new LanguageModelChatMessage(1, content);
  }
  static Assistant(content: unknown): LanguageModelChatMessage {
    return new LanguageModelChatMessage(2, content);
  }
}
export class ChatRequestTurn {
  readonly prompt = '';
}
export class ChatResponseMarkdownPart {
  readonly value = { value: '' };
}
export class MarkdownString {
  value: string;
  constructor(value: string) {
    this.value = value;
  }
  appendCodeblock(text: string): void {
    this.value += `\n\`\`\`\n${text}\n\`\`\``;
  }
}
export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 } as const;
export const SymbolKind = { 4: 'Class', 11: 'Function' } as const;

export const languages = {};
export const env = {
  clipboard: {
    readText: async () => stub.clipboard,
    writeText: async (text: string) => void (stub.clipboard = text),
  },
};
export const Uri = {
  file: (path: string) => ({ scheme: 'file', path, fsPath: path }),
  parse: (text: string) => {
    const { protocol, pathname } = new URL(text);
    return { scheme: protocol.slice(0, -1), path: pathname, fsPath: pathname };
  },
  from: (parts: object) => parts,
  joinPath: (base: { path: string }, ...more: string[]) => Uri.file([base.path, ...more].join('/')),
};
export class FileSystemError extends Error {}
export class Range {
  readonly start: unknown;
  readonly end: unknown;
  constructor(start: unknown, end: unknown) {
    this.start = start;
    this.end = end;
  }
}
export class Selection extends Range {}
export class WorkspaceEdit {
  readonly replaced: { range: Range; text: string }[] = [];
  replace(_uri: unknown, range: Range, text: string): void {
    this.replaced.push({ range, text });
  }
}
export class RelativePattern {
  readonly pattern: string;
  constructor(_base: unknown, pattern: string) {
    this.pattern = pattern;
  }
}
export class CancellationTokenSource {
  isCancelled = false;
  readonly token = {};
  cancel(): void {
    this.isCancelled = true;
  }
  dispose(): void {}
}
export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 } as const;
export const ConfigurationTarget = { Global: 1, Workspace: 2, WorkspaceFolder: 3 } as const;
export const ProgressLocation = { Window: 10, Notification: 15 } as const;
export const QuickPickItemKind = { Separator: -1, Default: 0 } as const;
export const StatusBarAlignment = { Left: 1, Right: 2 } as const;
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 } as const;
export const ViewColumn = { Active: -1, Beside: -2, One: 1 } as const;
export const ColorThemeKind = { Light: 1, Dark: 2, HighContrast: 3, HighContrastLight: 4 } as const;
