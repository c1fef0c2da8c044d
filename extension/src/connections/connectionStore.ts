import * as z from 'zod/mini';
import { connectionKinds, type Connection } from '../../../protocol/src/agent.ts';
import type { Disposable } from '../disposable.ts';
import { KeptValue, type State } from '../keptValue.ts';
import { parseAddress } from './address.ts';
import { toModelView, type FactTable } from './modelFacts.ts';
import { listedModel, type ListedModel } from './modelList.ts';

/** A connection as it is kept: no key, and whether one was saved, so that a lost one is noticed. */
const savedConnection = z.strictObject({
  id: z.string(),
  kind: z.enum(connectionKinds),
  name: z.string(),
  /** Base address; empty for VS Code's own models. */
  base: z.string(),
  hasKey: z.boolean(),
  /** The value of the vault that is its key; absent where it has one of its own, or none. */
  vaultKey: z.optional(z.strictObject({ item: z.string(), field: z.string() })),
  models: z.array(listedModel),
});
export type SavedConnection = z.infer<typeof savedConnection>;

/** The connections that a person made. They are in no setting and no file of a workspace. */
export class ConnectionStore implements Disposable {
  readonly #kept: KeptValue<readonly SavedConnection[]>;

  constructor(state: State, onError: (error: unknown) => void) {
    this.#kept = new KeptValue(state, { name: 'sallyport.connections', parse: parseConnections, onError });
  }

  readonly onDidChange = (listener: () => void): Disposable => this.#kept.onDidChange(listener);

  /** In the order in which they were made. One that does not parse, or whose address is none, is not there. */
  list(): readonly SavedConnection[] {
    return this.#kept.read();
  }

  find(id: string): SavedConnection | undefined {
    return this.list().find((each) => each.id === id);
  }

  /** Adds it, or takes the place of the one with its id. */
  async put(connection: SavedConnection): Promise<void> {
    const before = this.list();
    const isKnown = before.some(({ id }) => id === connection.id);
    const after = isKnown
      ? before.map((each) => (each.id === connection.id ? connection : each))
      : [...before, connection];
    await this.#kept.write(after);
  }

  async remove(id: string): Promise<void> {
    await this.#kept.write(this.list().filter((each) => each.id !== id));
  }

  dispose(): void {
    this.#kept.dispose();
  }
}

function parseConnections(value: unknown): SavedConnection[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    const { success, data } = z.safeParse(savedConnection, each);
    return success && (data.kind === 'vscode' || 'base' in parseAddress(data.base)) ? [data] : [];
  });
}

/** The canonical origin of a connection: what its key is bound to and what the log names. */
export function originOf({ kind, base }: Pick<SavedConnection, 'kind' | 'base'>): string {
  if (kind === 'vscode') return 'vscode.lm';
  const address = parseAddress(base);
  return 'origin' in address ? address.origin : '';
}

/** What the engine is told of a connection. */
export function toConnection(
  saved: SavedConnection,
  models: readonly ListedModel[],
  facts: FactTable,
): Connection {
  return {
    id: saved.id,
    kind: saved.kind,
    name: saved.name,
    origin: originOf(saved),
    models: models.map(({ id, name }) => toModelView(id, name, facts)),
  };
}
