import { together, type Disposable } from '../../disposable.ts';
import { Emitter } from '../../emitter.ts';
import type { Vault } from '../core/vaultContract.ts';
import type { VaultKind } from '../core/vaultState.ts';
import type { AgentsLife } from './agentsLife.ts';
import type { PersonalLife } from './personalLife.ts';

/** Both vaults of a window. */
export class Vaults implements Disposable {
  readonly agents: AgentsLife;
  readonly personal: PersonalLife;
  readonly #changed: Emitter<undefined>;
  readonly #subscriptions: Disposable;

  constructor(agents: AgentsLife, personal: PersonalLife, onError: (error: unknown) => void) {
    this.agents = agents;
    this.personal = personal;
    this.#changed = new Emitter(onError);
    const tell = (): void => this.#changed.fire(undefined);
    this.#subscriptions = together(agents.onDidChange(tell), personal.onDidChange(tell));
  }

  /** A status or the contents of one of them changed. */
  readonly onDidChange = (listener: () => void): Disposable => this.#changed.on(listener);

  /** The vaults that are open; the agents' one is opened where it can be. */
  async open(): Promise<readonly Vault[]> {
    const agents = await this.agents.open();
    const personal = this.personal.vault;
    return [...(agents ? [agents] : []), ...(personal ? [personal] : [])];
  }

  /** The one vault where it is open, for a person's own act. */
  async find(kind: VaultKind): Promise<Vault | undefined> {
    return kind === 'agents' ? this.agents.open() : this.personal.use();
  }

  lock(): void {
    this.agents.lock();
    this.personal.lock();
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.agents.dispose();
    this.personal.dispose();
    this.#changed.dispose();
  }
}
