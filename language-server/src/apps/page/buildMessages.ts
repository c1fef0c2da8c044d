/** Between the engine and the thread that the compiler runs in. Both are ours; files are data on it. */

/** What is to be one script: a module of the app, or the text of one that stands in the page. */
export type BuildEntry =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'inline'; readonly code: string; readonly from: string };

export type Loader = 'js' | 'jsx' | 'ts' | 'tsx' | 'json' | 'css' | 'text' | 'binary' | 'dataurl' | 'empty';

export type ToWorker =
  | { readonly kind: 'build'; readonly module: WebAssembly.Module; readonly entry: BuildEntry }
  | {
      readonly kind: 'resolved';
      readonly id: number;
      readonly path: string | null;
      readonly isEmpty: boolean;
    }
  | {
      readonly kind: 'loaded';
      readonly id: number;
      readonly contents: Uint8Array | null;
      readonly loader: Loader;
    };

export type FromWorker =
  | {
      readonly kind: 'resolve';
      readonly id: number;
      readonly specifier: string;
      readonly importer: string;
      readonly isRequire: boolean;
    }
  | { readonly kind: 'load'; readonly id: number; readonly path: string }
  | { readonly kind: 'done'; readonly code: string; readonly css: string }
  | { readonly kind: 'failed'; readonly problems: readonly string[] };
