import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangeContext } from '../../language-server/src/history/entries.ts';
import { Journal } from '../../language-server/src/history/journal.ts';
import { createHistoryHandlers } from '../../language-server/src/history/undo.ts';
import { Cursors } from '../../language-server/src/store/cursors.ts';
import { createBlobStore } from '../../remote-agent/src/files/blobStore.ts';
import { GateHarness } from './gateHarness.ts';
import { never } from './testEngine.ts';

/** A journal over a real folder and a real database, with its handlers and a gate. */
export class HistoryHarness {
  readonly root: string;
  readonly gate: GateHarness;
  readonly journal: Journal;
  readonly handlers: ReturnType<typeof createHistoryHandlers>;
  dirty: (paths: readonly string[]) => Promise<readonly string[]> = async () => [];
  readonly changed: string[] = [];
  #ids = 0;

  constructor(folder: string, options: { engine?: string; limitBytes?: number; database?: string } = {}) {
    const engine = options.engine ?? 'e1';
    mkdirSync(join(folder, 'project'), { recursive: true });
    this.root = realpathSync(join(folder, 'project'));
    this.gate = new GateHarness(options.database, engine);
    this.journal = new Journal({
      database: this.gate.database,
      blobs: createBlobStore(join(folder, 'history')),
      engine,
      createId: () => this.#id(),
      now: () => this.gate.clock,
      limitBytes: options.limitBytes ?? 64 * 1024 * 1024,
      onChanged: (root) => this.changed.push(root),
    });
    this.handlers = createHistoryHandlers({
      journal: this.journal,
      gate: this.gate.gate,
      cursors: new Cursors(),
      createId: () => this.#id(),
      scopeOf: () => 's'.repeat(64),
      dirty: (paths) => this.dirty(paths),
      onTurned: () => undefined,
    });
  }

  context(group = 'turn-1', overrides: Partial<ChangeContext> = {}): ChangeContext {
    return {
      root: this.root,
      principal: 'agent',
      conversation: 'c1',
      group,
      groupTitle: `Title of ${group}`,
      ...overrides,
    };
  }

  path(name: string): string {
    return join(this.root, name);
  }

  place(path: string) {
    return { base: this.root, path };
  }

  /** A file that is to hold this text. */
  file(path: string, text: string | Uint8Array, mode: number | null = null) {
    const { digest } = this.journal.keep(Buffer.from(text));
    return { place: this.place(path), to: { kind: 'file' as const, digest, mode } };
  }

  absent(path: string) {
    return { place: this.place(path), to: { kind: 'absent' as const } };
  }

  preview(direction: 'undo' | 'redo', chosen: { group?: string; changeIds?: string[] }) {
    return this.handlers['history/preview']({ root: this.root, direction, ...chosen }, never);
  }

  /** Previews and does it, as a person who looks and presses the button. */
  async turn(direction: 'undo' | 'redo', chosen: { group?: string; changeIds?: string[] }): Promise<number> {
    const { planDigest } = await this.preview(direction, chosen);
    const params = { root: this.root, direction, planDigest, ...chosen };
    return (await this.handlers['history/apply'](params, never)).applied;
  }

  async list() {
    return this.handlers['history/list']({ root: this.root, limit: 100 }, never);
  }

  close(): void {
    this.gate.close();
  }

  #id(): string {
    return `h${this.gate.engine}-${++this.#ids}`;
  }
}
