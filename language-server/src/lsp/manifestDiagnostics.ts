import { join } from 'node:path';
import type { Diagnostic } from 'vscode-languageserver';
import { projectFile } from '../project/findCards.ts';
import { projectDiagnostics, toDiagnostic } from './diagnostics.ts';
import { DiagnosticsPublisher } from './diagnosticsPublisher.ts';
import { looseProblems } from './looseManifest.ts';
import { uriOf } from './uris.ts';
import type { Workspace } from './workspace.ts';

/** Keeps what an editor shows in step with `Workspace.edited`. */
export class ManifestDiagnostics {
  readonly #workspace: Workspace;
  readonly #publisher: DiagnosticsPublisher;

  constructor(workspace: Workspace, send: (params: { uri: string; diagnostics: Diagnostic[] }) => void) {
    this.#workspace = workspace;
    this.#publisher = new DiagnosticsPublisher((path, diagnostics) =>
      send({ uri: workspace.documents.get(path)?.uri ?? uriOf(path), diagnostics }),
    );
  }

  /** Publishes a project's problems, or takes them back where there is none any more. */
  publishProject(root: string): void {
    const state = this.#workspace.edited.stateOf(join(root, projectFile));
    const project = state?.root === root ? state.loaded : undefined;
    const found = project && projectDiagnostics(project, (path) => state?.linesOf(path));
    this.#publisher.publish(root, found ?? new Map());
    this.publishLoose(this.#workspace.documents.keys());
  }

  /** Publishes the problems of those open manifests that no project has. */
  publishLoose(paths: Iterable<string>): void {
    for (const path of paths) {
      const text = this.#isLoose(path) ? this.#workspace.textOf(path) : undefined;
      const { problems, lines } = text === undefined ? nothing : looseProblems(path, text);
      const found = problems.map((each) => toDiagnostic(each, lines, () => undefined));
      this.#publisher.publish(path, found.length > 0 ? new Map([[path, found]]) : new Map());
    }
  }

  #isLoose(path: string): boolean {
    return this.#workspace.edited.stateOf(path)?.linesOf(path) === undefined;
  }
}

const nothing = { problems: [], lines: Uint32Array.of(0) };
