/**
 * What an app finds as `sallyport` in its page. Every call answers with a promise that rejects with a `SallyportError`;
 * its `code` says why. This file is handed to authors as it is (`npm run new-app`), so it imports nothing.
 */
interface Sallyport {
  /** The version of this interface. */
  readonly version: 1;
  readonly plugins: {
    /** Calls a function of one of the app's own plugins. `input` and the answer fit its schemas in `plugin.json`. */
    call(plugin: string, name: string, input?: unknown, options?: CallOptions): Promise<unknown>;
  };
  /** Asks the models that the person connected. Each kind needs its `generate` permission. No key ever comes here. */
  readonly generate: {
    text(request: TextRequest, options?: TextOptions): Promise<TextAnswer>;
    image(request: ImageRequest, options?: CallOptions): Promise<MadeFile>;
    speech(request: SpeechRequest, options?: CallOptions): Promise<MadeFile>;
    /** One vector for each text, in order. */
    embedding(texts: readonly string[], options?: CallOptions & { model?: string }): Promise<number[][]>;
  };
  /** The app's own files. Needs `storageMB`. Paths: `notes/2024.json`; letters, digits, `.`, `_`, `-`. */
  readonly files: {
    /** UTF-8 text. Rejects with `not-found`. */
    get(path: string): Promise<string>;
    getBytes(path: string): Promise<Uint8Array<ArrayBuffer>>;
    /** Writes the whole file, up to 2 MB. Rejects with `quota`, and then nothing has changed. */
    put(path: string, content: string | Uint8Array): Promise<StoredFile>;
    /** In order of path. `prefix` is the beginning of a path. */
    list(prefix?: string): Promise<StoredFile[]>;
    /** False where there was none. */
    delete(path: string): Promise<boolean>;
    quota(): Promise<{ usedBytes: number; limitBytes: number }>;
  };
  /** Needs `models`. */
  readonly models: { list(kind?: GenerateKind): Promise<Model[]> };
  /** Needs `models`. */
  readonly voices: { list(): Promise<{ id: string; name: string }[]> };
  /** The latest run of each open project, to read. Needs `results`. */
  readonly results: {
    list(): Promise<ProjectResults[]>;
    /** An output as UTF-8 text, up to 4 MB. */
    read(project: string, card: string, port: string): Promise<string>;
    readBytes(project: string, card: string, port: string): Promise<Uint8Array<ArrayBuffer>>;
  };
  readonly links: {
    /** Shows the person the whole address and opens it in their browser. `http:` and `https:` only. */
    open(url: string): Promise<boolean>;
  };
  readonly downloads: {
    /** The person chooses where; the app never learns it. Up to 2 MB. False where they chose nothing. */
    save(name: string, content: string | Uint8Array): Promise<boolean>;
  };
  readonly theme: {
    /** The variables (`--vscode-*`) stand on the page's root element too, and change with the theme. */
    readonly current: Theme;
    /** Calls `listener` after each change. Returns what stops that. */
    onChange(listener: (theme: Theme) => void): () => void;
  };
}

interface CallOptions {
  /** Aborting it gives the call up: it rejects with `cancelled`. */
  signal?: AbortSignal;
}

interface TextOptions extends CallOptions {
  /** Pieces of the text as the model writes them. Together they are the whole text. */
  onText?(piece: string): void;
}

type GenerateKind = 'text' | 'image' | 'speech' | 'embedding';

interface TextRequest {
  /** Ends with one of the user. */
  messages: { role: 'user' | 'assistant'; text: string }[];
  system?: string;
  /** An `id` of `models.list`; absent takes what the person chose. */
  model?: string;
  maxTokens?: number;
  temperature?: number;
}

interface TextAnswer {
  text: string;
  model: string;
  stop: 'end' | 'length' | 'refused';
}

interface ImageRequest {
  prompt: string;
  /** Pixels: `1024x1024`. */
  size?: string;
  model?: string;
}

interface SpeechRequest {
  text: string;
  /** An `id` of `voices.list`. */
  voice?: string;
  model?: string;
}

/** `new Blob([bytes], { type: mime })` makes a picture or a sound of it. */
interface MadeFile {
  mime: string;
  bytes: Uint8Array<ArrayBuffer>;
  model: string;
}

interface StoredFile {
  path: string;
  bytes: number;
  /** Milliseconds since 1970. */
  modifiedAt: number;
}

interface Model {
  id: string;
  name: string;
  kind: GenerateKind;
}

interface ProjectResults {
  /** A name for `read`. */
  project: string;
  name: string;
  run: { run: string; state: string; startedAt: number; endedAt: number | null } | null;
  cards: {
    card: string;
    title: string;
    /** Null where it has not run. */
    state: string | null;
    /** True where a stored result was used. */
    cached: boolean;
    tookMs: number | null;
    outputs: { port: string; type: string; bytes: number }[];
  }[];
}

interface Theme {
  kind: 'light' | 'dark' | 'high-contrast' | 'high-contrast-light';
  reducedMotion: boolean;
  screenReader: boolean;
  variables: Record<string, string>;
}

interface SallyportError extends Error {
  readonly code:
    | 'not-allowed'
    | 'bad-params'
    | 'too-large'
    | 'too-many'
    | 'not-found'
    | 'quota'
    | 'no-model'
    | 'declined'
    | 'plugin-failed'
    | 'plugin-off'
    | 'cancelled'
    | 'timeout'
    | 'unavailable'
    | 'internal';
}

declare const sallyport: Sallyport;
