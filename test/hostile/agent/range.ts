import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { prepareCall, runTool, type CallResult } from '../../../language-server/src/agent/tools/runTool.ts';
import type { CallContext, Tool } from '../../../language-server/src/agent/tools/tool.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import type { Approval } from '../../../protocol/src/gate.ts';
import { GateHarness } from '../../support/gateHarness.ts';
import { fillIn, type Call, type Case } from './case.ts';
import { changesBetween, plant, plantFolder, snapshot } from './tree.ts';
import { runNaively } from './naive.ts';
import { createToolset, type Toolset } from './toolset.ts';

export interface CallReport {
  /** What the person was shown; null where nobody was asked. */
  readonly shown: Approval | null;
  readonly result: Pick<CallResult, 'text' | 'state' | 'refusal'>;
}

export interface Report {
  readonly calls: readonly CallReport[];
  readonly changed: readonly string[];
  readonly contacts: number;
}

const scope = 's'.repeat(64);

/** A folder with a project and something beside it that is worth taking, an engine's gate and tools, and a listener. */
export class Range {
  readonly #folder = makeFolder();
  readonly #harness: GateHarness;
  readonly #toolset: Toolset;
  readonly #values: Readonly<Record<string, string>>;
  readonly #server: Server;
  readonly #case: Case;
  #contacts = 0;
  #ids = 0;

  static async open(attack: Case, programs: string): Promise<Range> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return new Range(attack, server, programs);
  }

  private constructor(attack: Case, server: Server, programs: string) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#contacts++;
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nlured');
      });
    });
    const project = join(this.#folder, 'project');
    const outside = join(this.#folder, 'outside');
    for (const each of [project, outside, join(this.#folder, 'home')]) mkdirSync(each);
    this.#values = {
      project,
      outside,
      port: String((server.address() as AddressInfo).port),
      secret: 'the text that lies outside',
    };
    process.env['SALLYPORT_TEST_TOKEN'] = this.#values['secret'];
    this.#case = fillIn(attack, this.#values);
    if (existsSync(join(attack.folder, 'project'))) plantFolder(join(attack.folder, 'project'), project);
    plant(outside, { 'secret.txt': this.#values['secret'] ?? '', ...this.#case.outside });
    plant(project, { 'notes.md': 'Notes.\n', ...this.#case.files });
    this.#harness = new GateHarness();
    this.#harness.trusted = this.#case.isTrusted ?? true;
    this.#harness.mode = this.#case.mode ?? 'act';
    for (const kind of this.#case.grants ?? (['read', 'write', 'run', 'shell'] as const))
      this.#harness.gate.give({ scope, kind, conversation: null, folder: '' });
    this.#toolset = createToolset({
      home: join(this.#folder, 'home'),
      programs,
      hasInternet: this.#case.hasInternet ?? false,
      harness: this.#harness,
      createId: () => `made-${++this.#ids}`,
    });
  }

  get attack(): Case {
    return this.#case;
  }

  /** Makes the calls through the gate, as the case says, or with a yes to every question. */
  gated(): Promise<Report> {
    return this.#report(this.#case.calls, (call) => this.#pass(call, call.person));
  }

  /** Makes the calls of the control, and what they show. */
  control(): Promise<Report> {
    const { calls, control } = this.#case;
    const chosen = control.calls ? control.calls.flatMap((index) => calls[index] ?? []) : calls;
    switch (control.how) {
      case 'allowed':
        return this.#report(chosen, (call) => this.#pass(call, 'allow-once'));
      case 'ungated':
        return this.#report(chosen, (call) => this.#ungated(call));
      case 'naive':
        return this.#report(chosen, (call) => this.#naive(call));
    }
  }

  async close(): Promise<void> {
    await this.#toolset.dispose();
    delete process.env['SALLYPORT_TEST_TOKEN'];
    this.#harness.close();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #report(made: readonly Call[], make: (call: Call) => Promise<CallReport>): Promise<Report> {
    const before = this.#look();
    const calls: CallReport[] = [];
    for (const call of made) calls.push(await make(call));
    return { calls, changed: changesBetween(before, this.#look()), contacts: this.#contacts };
  }

  #look(): Map<string, string> {
    const all = new Map<string, string>();
    for (const name of ['project', 'outside'])
      for (const [path, state] of snapshot(join(this.#folder, name))) all.set(`${name}/${path}`, state);
    return all;
  }

  /** Makes a call without the gate. */
  async #ungated(call: Call): Promise<CallReport> {
    try {
      const prepared = await prepareCall(this.#tool(call), argumentsOf(call), this.#context(call));
      const { text, isError } = await prepared.run(new AbortController().signal);
      return { shown: null, result: { text, state: isError ? 'failed' : 'done', refusal: null } };
    } catch (error) {
      return { shown: null, result: { text: errorMessage(error), state: 'failed', refusal: null } };
    }
  }

  /** Makes a call in the way of a tool that checks nothing. */
  async #naive(call: Call): Promise<CallReport> {
    plant(this.#values['project'] ?? '', call.meanwhile ?? {});
    const text = await runNaively(this.#values['project'] ?? '', call);
    return { shown: null, result: { text, state: 'done', refusal: null } };
  }

  async #pass(call: Call, answer: Call['person']): Promise<CallReport> {
    const { gate } = this.#harness;
    const over = new AbortController();
    const running = runTool(
      gate,
      this.#tool(call),
      argumentsOf(call),
      this.#context(call),
      new AbortController().signal,
    ).finally(() => over.abort());
    while (!over.signal.aborted && gate.waiting().length === 0) await turn();
    const [shown = null] = gate.waiting();
    if (shown) {
      plant(this.#values['project'] ?? '', call.meanwhile ?? {});
      if (answer) this.#harness.answer(answer);
      else this.#runOut();
    }
    return { shown, result: await running };
  }

  /** Lets the time for an answer pass. */
  #runOut(): void {
    for (const timer of this.#harness.timers) if (!timer.stopped) timer.run();
  }

  #tool({ tool }: Call): Tool {
    const found = this.#toolset.tools.find(({ name }) => name === tool);
    if (!found) throw new Error(`There is no tool ${tool}`);
    return found;
  }

  #context(call: Call): CallContext {
    const opId = call.opId ?? `op-${++this.#ids}`;
    const principal = call.principal ?? 'agent';
    return {
      root: this.#values['project'] ?? '',
      scope,
      conversation: principal === 'external-agent' ? null : (call.conversation ?? 'c1'),
      principal,
      opId,
      callId: opId,
      group: 'turn-1',
      groupTitle: 'The attack',
    };
  }
}

/** One that everybody may enter: the sandbox's user is another one than root. */
function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-agent-')));
  chmodSync(folder, 0o755);
  return folder;
}

function argumentsOf({ args }: Call): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}
