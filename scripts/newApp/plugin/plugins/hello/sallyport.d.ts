/** What a plugin has: the second argument of its functions, and a global. Each part needs its permission in plugin.json. */
interface PluginApi {
  /** `network`. Only the hosts listed there are reached, redirects included. */
  fetch(url: string, options?: PluginRequest): Promise<PluginResponse>;
  /** `storage`. That of the app, shared with its page. A path is `a/b.txt`: letters, digits, `.`, `_`, `-`. */
  readonly storage: {
    /** As text; undefined where it is not there. */
    get(path: string): Promise<string | undefined>;
    getBytes(path: string): Promise<Uint8Array | undefined>;
    /** Writes the whole file, at most 2 MiB. */
    put(path: string, content: string | ArrayBuffer | ArrayBufferView): Promise<void>;
    /** True where it was there. */
    delete(path: string): Promise<boolean>;
    /** In order of path. */
    list(prefix?: string): Promise<{ path: string; bytes: number; modifiedAt: number }[]>;
    quota(): Promise<{ usedBytes: number; limitBytes: number }>;
  };
  /** `generate`, by kind. The person chose the models; no key is ever told. */
  readonly generate: {
    text(
      request:
        | string
        | {
            messages: { role: 'user' | 'assistant'; text: string }[];
            system?: string;
            model?: string;
            maxTokens?: number;
            temperature?: number;
          },
    ): Promise<{ text: string; model: string; stop: 'end' | 'length' | 'refused' }>;
    image(request: { prompt: string; size?: string; model?: string }): Promise<PluginMade>;
    speech(request: { text: string; voice?: string; model?: string }): Promise<PluginMade>;
    /** One vector for each text, in order. */
    embedding(request: { texts: string[]; model?: string }): Promise<{ vectors: number[][]; model: string }>;
  };
  /** A line of the app's log. */
  log(...values: unknown[]): void;
  /** Milliseconds since 1970. */
  now(): number;
  /** Secure random bytes, at most 1024. */
  random(count?: number): Uint8Array;
}

interface PluginRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: string | ArrayBuffer | ArrayBufferView;
  redirect?: 'follow' | 'manual' | 'error';
}

interface PluginResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly url: string;
  readonly redirected: boolean;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Throws where the answer is not UTF-8. */
  text(): string;
  json(): unknown;
  bytes(): Uint8Array;
}

interface PluginMade {
  readonly bytes: Uint8Array;
  readonly mime: string;
  readonly model: string;
}

/** What a host function rejects with. */
interface HostError extends Error {
  readonly code:
    | 'not-allowed'
    | 'bad-params'
    | 'too-large'
    | 'too-many'
    | 'not-found'
    | 'quota'
    | 'no-model'
    | 'timeout'
    | 'cancelled'
    | 'unavailable'
    | 'internal';
}

declare const sallyport: PluginApi;
declare const console: Readonly<
  Record<'log' | 'info' | 'debug' | 'warn' | 'error', (...values: unknown[]) => void>
>;
