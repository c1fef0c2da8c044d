import type { CardManifest, PortType, ProjectManifest } from '../../../protocol/src/manifests.ts';

/** Undoes a registration; safe to call twice. */
export interface Disposable {
  dispose(): void;
}

/** Something wrong in a manifest, placed by offsets into its text (UTF-16 units). */
export interface Problem {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly start: number;
  readonly end: number;
  /** What a quick fix needs, where there is one. */
  readonly fix?: {
    readonly title: string;
    readonly start: number;
    readonly end: number;
    readonly text: string;
  };
  /** Other places that have to do with it: the far end of a wire, the other wires of a cycle. */
  readonly related?: readonly {
    readonly path: string;
    readonly start: number;
    readonly end: number;
    readonly message: string;
  }[];
}

/** A card as it is on disk now. `manifest` is null where it does not parse or does not fit the schema. */
export interface LoadedCard {
  /** The name of the card's folder. */
  readonly id: string;
  /** Absolute path of the card's folder. */
  readonly folder: string;
  readonly manifestPath: string;
  readonly manifest: CardManifest | null;
  readonly problems: readonly Problem[];
}

/** A wire whose two ends exist and whose types join. */
export interface Wire {
  readonly fromCard: string;
  readonly fromPort: string;
  readonly toCard: string;
  readonly toPort: string;
  readonly type: PortType;
}

/** The sound part of a project's wiring. Cards in a cycle are in `cyclic` and in no order. */
export interface Graph {
  readonly wires: readonly Wire[];
  /** Ids so that every card comes after its sources. */
  readonly order: readonly string[];
  readonly cyclic: ReadonlySet<string>;
}

export interface LoadedProject {
  /** Absolute path of the folder that holds `sallyport.json`. */
  readonly root: string;
  readonly manifestPath: string;
  readonly manifest: ProjectManifest | null;
  readonly problems: readonly Problem[];
  readonly cards: ReadonlyMap<string, LoadedCard>;
  readonly graph: Graph;
}

/** The projects of this engine, kept up to date with disk and open editors. */
export interface Projects {
  list(): LoadedProject[];
  /** Throws `UserError('no-project')` where `root` holds none. */
  get(root: string): LoadedProject;
  /** Reads again what changed on disk since, by stat. */
  refresh(root: string): LoadedProject;
  onDidChange(listener: (root: string) => void): Disposable;
}
