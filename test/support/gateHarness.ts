import { Database } from '../../language-server/src/store/database.ts';
import { migrate } from '../../language-server/src/store/schema.ts';
import { Gate } from '../../language-server/src/gate/gate.ts';
import { Ledger } from '../../language-server/src/gate/ledger.ts';
import type { Act } from '../../language-server/src/gate/act.ts';
import type { Target } from '../../protocol/src/gate.ts';

/** A gate over a real database, with a clock and a world that a test moves. */
export class GateHarness {
  readonly database: Database;
  readonly engine: string;
  readonly gate: Gate;
  readonly ledger: Ledger;
  readonly waitingCounts: number[] = [];
  readonly timers: { run: () => void; ms: number; stopped: boolean }[] = [];
  trusted = true;
  mode: 'plan' | 'act' = 'act';
  clock = 1_000;
  #ids = 0;

  constructor(path = ':memory:', engine = 'e1') {
    this.database = new Database(path);
    this.engine = engine;
    migrate(this.database);
    this.ledger = new Ledger(this.database, engine);
    this.gate = new Gate({
      ledger: this.ledger,
      world: { isTrusted: () => this.trusted, modeOf: () => this.mode, titleOf: () => 'Compare years' },
      createId: () => `${engine}-${++this.#ids}`,
      now: () => this.clock,
      monotonic: () => this.clock,
      setTimer: (run, ms) => {
        const timer = { run, ms, stopped: false };
        this.timers.push(timer);
        return () => {
          timer.stopped = true;
        };
      },
      onWaitingChanged: (waiting) => this.waitingCounts.push(waiting),
    });
  }

  /** Answers the oldest question as the person would. */
  answer(answer: 'allow-once' | 'decline'): void {
    const [first] = this.gate.waiting();
    if (!first) throw new Error('Nothing waits');
    this.gate.answer(first.id, first.reviewDigest, answer);
  }

  close(): void {
    this.database.close();
  }
}

export const insideTarget: Target = {
  kind: 'path',
  name: 'src/main.ts',
  measure: 'a'.repeat(64),
  isProtected: false,
  isOutside: false,
};

export function makeAct(overrides: Partial<Act> = {}): Act {
  return {
    opId: 'op-1',
    principal: 'agent',
    conversation: 'c1',
    root: '/project',
    scope: 's'.repeat(64),
    callId: 'call-1',
    tool: 'edit',
    effect: 'write',
    args: { path: 'src/main.ts', text: 'x' },
    permissions: [],
    measure: async () => [insideTarget],
    describe: () => ({ title: 'Change src/main.ts', lines: ['+ x'], fullText: null }),
    ...overrides,
  };
}
