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
}

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
  isShown = false;
  readonly accepted = new EventEmitter<undefined>();
  readonly hidden = new EventEmitter<undefined>();
  readonly pressed = new EventEmitter<{ item: unknown }>();
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  readonly onDidTriggerItemButton = this.pressed.event;
  show(): void {
    this.isShown = true;
  }
  dispose(): void {
    this.isShown = false;
  }
}

async function message(
  severity: Shown['severity'],
  text: string,
  ...rest: unknown[]
): Promise<string | undefined> {
  const buttons = rest.filter((each) => typeof each === 'string');
  stub.shown.push({ severity, text, buttons });
  return buttons.find((each) => each === stub.answer);
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
};

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
  get isTrusted(): boolean {
    return stub.isTrusted;
  },
  getConfiguration: (section: string) => ({ get: (name: string) => stub.settings[`${section}.${name}`] }),
  onDidGrantWorkspaceTrust: new EventEmitter<undefined>().event,
  textDocuments: [],
};

export const languages = {};
export const env = {};
export const Uri = {
  file: (path: string) => ({ scheme: 'file', path, fsPath: path }),
  from: (parts: object) => parts,
  joinPath: (base: { path: string }, ...more: string[]) => Uri.file([base.path, ...more].join('/')),
};
export class FileSystemError extends Error {}
export class RelativePattern {
  readonly pattern: string;
  constructor(_base: unknown, pattern: string) {
    this.pattern = pattern;
  }
}
export class CancellationTokenSource {
  isCancelled = false;
  cancel(): void {
    this.isCancelled = true;
  }
}
export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 } as const;
export const ProgressLocation = { Window: 10, Notification: 15 } as const;
export const QuickPickItemKind = { Separator: -1, Default: 0 } as const;
export const StatusBarAlignment = { Left: 1, Right: 2 } as const;
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 } as const;
export const ViewColumn = { Active: -1, Beside: -2, One: 1 } as const;
export const ColorThemeKind = { Light: 1, Dark: 2, HighContrast: 3, HighContrastLight: 4 } as const;
