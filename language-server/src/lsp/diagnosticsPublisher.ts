import type { Diagnostic } from 'vscode-languageserver';

type Diagnostics = readonly Diagnostic[];

/**
 * Sends diagnostics and takes back what no longer holds. They come in groups (a project, a file of none); a file that
 * is in several gets those of all, so that it can move from one to another in any order.
 */
export class DiagnosticsPublisher {
  readonly #send: (path: string, diagnostics: Diagnostic[]) => void;
  readonly #groups = new Map<string, ReadonlyMap<string, Diagnostics>>();
  /** What was sent last, as JSON, by path; nothing for a file without diagnostics. */
  readonly #sent = new Map<string, string>();

  constructor(send: (path: string, diagnostics: Diagnostic[]) => void) {
    this.#send = send;
  }

  /** Sets all diagnostics of a group, by path, and sends what differs from before. */
  publish(group: string, found: ReadonlyMap<string, Diagnostics>): void {
    const before = this.#groups.get(group);
    if (found.size > 0) this.#groups.set(group, found);
    else this.#groups.delete(group);
    for (const path of new Set([...found.keys(), ...(before?.keys() ?? [])])) this.#update(path);
  }

  #update(path: string): void {
    const all = [...this.#groups.values()].flatMap((group) => group.get(path) ?? []);
    const text = all.length > 0 ? JSON.stringify(all) : undefined;
    if (text === this.#sent.get(path)) return;
    if (text === undefined) this.#sent.delete(path);
    else this.#sent.set(path, text);
    this.#send(path, all);
  }
}
