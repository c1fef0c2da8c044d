import type { Diagnostic } from 'vscode-languageserver';

/** Sends diagnostics of whole groups of files (a project, a file of none) and takes back what no longer holds. */
export class DiagnosticsPublisher {
  readonly #send: (path: string, diagnostics: Diagnostic[]) => void;
  /** What was sent last, as JSON, by group and path. */
  readonly #sent = new Map<string, Map<string, string>>();

  constructor(send: (path: string, diagnostics: Diagnostic[]) => void) {
    this.#send = send;
  }

  /** Sends what differs from before. A path that is not in `found` has no diagnostics any more. */
  publish(group: string, found: ReadonlyMap<string, Diagnostic[]>): void {
    const before = this.#sent.get(group) ?? new Map<string, string>();
    const now = new Map<string, string>();
    for (const [path, diagnostics] of found) {
      const text = JSON.stringify(diagnostics);
      now.set(path, text);
      if (before.get(path) !== text) this.#send(path, diagnostics);
    }
    for (const path of before.keys()) if (!now.has(path)) this.#send(path, []);
    if (now.size > 0) this.#sent.set(group, now);
    else this.#sent.delete(group);
  }
}
