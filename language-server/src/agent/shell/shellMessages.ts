import type { OverlayChange } from './overlayFs.ts';

/** What the shell's thread is started with. */
export interface ShellTask {
  /** Real path of the project. */
  readonly root: string;
  readonly command: string;
  readonly hasInternet: boolean;
  readonly limits: ShellLimits;
}

export interface ShellLimits {
  readonly seconds: number;
  /** Kept of each of standard output and error: half from the beginning, half from the end. */
  readonly outputBytes: number;
  readonly fileBytes: number;
  /** All files in memory together. */
  readonly totalBytes: number;
  readonly entriesPerFolder: number;
}

/** A request that a command of the shell makes; the engine decides and answers. */
export interface ShellFetch {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface ShellFetchAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Thread → engine. `end` comes once and last. */
export type ShellMessage =
  | { readonly kind: 'fetch'; readonly id: number; readonly request: ShellFetch }
  | {
      readonly kind: 'end';
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
      readonly cutStdout: number;
      readonly cutStderr: number;
      readonly files: readonly OverlayChange[];
      readonly links: readonly string[];
    }
  | { readonly kind: 'fault'; readonly message: string };

/** Engine → thread. */
export type ShellReply =
  | { readonly id: number; readonly answer: ShellFetchAnswer }
  | { readonly id: number; readonly refused: string };
