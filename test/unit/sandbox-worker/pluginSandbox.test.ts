import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pluginLimits, type PluginEnd } from '../../../protocol/src/plugin.ts';
import { createPluginSandbox, type PluginSandbox } from '../../../sandbox-worker/src/pluginSandbox.ts';
import { pluginFiles } from '../../support/pluginHost.ts';
import { standardPages, wasmModule } from '../../support/quickjs.ts';

const guestSource = readFileSync(pluginFiles.guest, 'utf8');
const mebibyte = 1024 * 1024;

interface Told {
  readonly asked: { readonly id: number; readonly name: string; readonly params: string }[];
  readonly log: string[];
  waiting: number;
}

async function open(
  source: string,
  options: { memoryPages?: number; now?: () => number } = {},
): Promise<{ sandbox: PluginSandbox; told: Told }> {
  const told: Told = { asked: [], log: [], waiting: 0 };
  const sandbox = await createPluginSandbox({
    wasmModule,
    guestSource,
    memoryPages: options.memoryPages ?? standardPages,
    now: options.now ?? (() => performance.now()),
    date: () => 1234.5,
    events: {
      hostCall: (id, name, params) => told.asked.push({ id, name, params }),
      log: (level, text) => told.log.push(`${level}: ${text}`),
      waiting: () => told.waiting++,
    },
  });
  assert.equal(sandbox.load({ 'index.js': source }, 'index.js'), null);
  return { sandbox, told };
}

const run = (sandbox: PluginSandbox, input = 'null', interruptMs = 5000): Promise<PluginEnd> =>
  sandbox.call('run', input, interruptMs);
const codeOf = (end: PluginEnd): string => (end.kind === 'ok' ? end.output : end.code);

describe('pluginSandbox', () => {
  it('[PLUG-06] asks by JSON and takes the answer by JSON', async () => {
    const { sandbox, told } = await open(
      'export async function run(_, { storage }) { return [await storage.get("a"), await storage.list()]; }',
    );
    const end = run(sandbox);
    assert.deepEqual(told.asked, [{ id: 1, name: 'storage.get', params: '{"path":"a","encoding":"text"}' }]);
    assert.equal(told.waiting, 1);
    sandbox.answer({ id: 1, ok: true, text: '{"content":"of a\\u0000"}' });
    sandbox.answer({ id: 1, ok: true, text: '{"content":"twice"}' });
    sandbox.answer({ id: 99, ok: true, text: '{"content":"never asked"}' });
    sandbox.answer({ id: 2, ok: true, text: '{"files":[]}' });
    assert.equal(codeOf(await end), '["of a\\u0000",[]]');
  });

  it('a refusal is an error with its code', async () => {
    const { sandbox } = await open(
      'export async function run(_, { generate }) { try { await generate.text("x"); } catch (error) { return [error.name, error.code, error.message, error instanceof Error]; } }',
    );
    const end = run(sandbox);
    sandbox.answer({ id: 1, ok: false, text: '{"code":"no-model","message":"none"}' });
    assert.equal(codeOf(await end), '["HostError","no-model","none",true]');
  });

  it('has a clock and random bytes', async () => {
    const { sandbox } = await open(
      'export const run = (_, { now, random }) => [now(), random(3).length, random(1e9).length, random(-1).length, random("x").length, new Set(random(1024)).size > 200, random(64).every((byte) => byte >= 0 && byte < 256)];',
    );
    assert.equal(codeOf(await run(sandbox)), '[1234.5,3,1024,0,0,true,true]');
  });

  it('[PLUG-03] time is counted over the stretches of a call, and answering costs it nothing else', async () => {
    let clock = 0;
    const { sandbox } = await open(
      'export async function run(n, { storage }) { for (let at = 0; at < n; at++) await storage.quota(); return n; }',
      { now: () => clock },
    );
    const end = run(sandbox, '3', 100);
    for (let id = 1; id <= 3; id++) {
      clock += 1000;
      sandbox.answer({ id, ok: true, text: '{}' });
    }
    assert.equal(codeOf(await end), '3', 'what passes while it waits is not counted');
  });

  it('[PLUG-02] a call that runs on is interrupted, and the sandbox is spent', async () => {
    const { sandbox } = await open('export function run(loop) { while (loop); return 1; }');
    assert.equal(codeOf(await run(sandbox, 'false')), '1');
    assert.equal(codeOf(await run(sandbox, 'true', 50)), 'timeout');
    assert.equal(codeOf(await run(sandbox, 'false')), 'timeout', 'it is not to be used again');
  });

  it('[PLUG-12] a call that leaves a loop behind has run too long, and its result is not given', async () => {
    const { sandbox } = await open(
      'export function run() { Promise.resolve().then(() => Promise.resolve()).then(() => { for (;;); }); return 1; }',
    );
    assert.equal(codeOf(await run(sandbox, 'null', 100)), 'timeout');
  });

  it('[PLUG-12] an answer that comes between calls waits for the next', async () => {
    const { sandbox, told } = await open(
      'let seen = []; export function run(ask) { if (ask) sallyport.storage.quota().then(() => seen.push("answered")); return seen; }',
    );
    assert.equal(codeOf(await run(sandbox, 'true')), '[]');
    sandbox.answer({ id: 1, ok: true, text: '{}' });
    assert.equal(told.waiting, 0);
    await run(sandbox, 'false');
    assert.equal(codeOf(await run(sandbox, 'false')), '["answered"]');
  });

  it('what nothing will settle ends at once', async () => {
    const { sandbox } = await open('export const run = () => new Promise(() => undefined);');
    const end = await run(sandbox);
    assert.match(end.kind === 'error' ? end.message : '', /nothing will settle/);
    assert.equal(codeOf(await run(sandbox)), 'exception', 'that is no reason to end it');
  });

  it('[PLUG-03] one host function too many is refused inside, within the same stretch', async () => {
    const { sandbox, told } = await open(
      `export async function run() { const all = Array.from({ length: ${pluginLimits.hostCalls + 5} }, () => sallyport.storage.quota().catch((error) => error.code)); return Promise.race(all); }`,
    );
    assert.equal(codeOf(await run(sandbox)), '"too-many"');
    assert.equal(told.asked.length, pluginLimits.hostCalls);
  });

  it('[PLUG-01] the memory has a maximum of its own; with a larger one the same code takes more', async () => {
    const source =
      "export function run() { const kept = []; for (;;) kept.push('x'.repeat(1 << 20) + kept.length); }";
    const ours = await open(source);
    assert.equal(codeOf(await run(ours.sandbox, 'null', 20_000)), 'memory');
    assert.ok(ours.sandbox.memoryBytes <= 64 * mebibyte);
    const larger = await open(source, { memoryPages: 2 * standardPages });
    assert.equal(codeOf(await run(larger.sandbox, 'null', 20_000)), 'memory');
    assert.ok(larger.sandbox.memoryBytes > 64 * mebibyte);
  });

  it('[PLUG-01] three thousand calls leave nothing behind', async () => {
    const { sandbox } = await open(
      'export async function run({ n }, { storage }) { await storage.quota(); return { n, text: "x".repeat(1000) }; }',
    );
    const input = JSON.stringify({ n: 1, more: 'y'.repeat(2000) });
    let id = 1;
    const one = async (): Promise<void> => {
      const end = run(sandbox, input);
      sandbox.answer({ id: id++, ok: true, text: '{"usedBytes":1}' });
      assert.equal((await end).kind, 'ok');
    };
    for (let at = 0; at < 1000; at++) await one();
    const before = sandbox.memoryBytes;
    for (let at = 0; at < 2000; at++) await one();
    assert.equal(sandbox.memoryBytes, before);
  });

  it('logs within bounds, and says nothing between calls', async () => {
    const { sandbox, told } = await open(
      'export function run() { for (let at = 0; at < 1000; at++) console.warn("line", at, { a: 1n }, Symbol("s")); }',
    );
    await run(sandbox);
    assert.equal(told.log.length, pluginLimits.logLines);
    assert.equal(told.log[0], 'warning: line 0 {"a":"1n"} Symbol(s)');
    await run(sandbox);
    assert.equal(told.log.length, 2 * pluginLimits.logLines, 'for each call anew');
  });

  const broken: readonly (readonly [string, Record<string, string>, string, RegExp])[] = [
    ['an entry that is not there', { 'a.js': '' }, 'index.js', /has no index\.js/],
    ['a NUL in a source', { 'index.js': 'a\0' }, 'index.js', /NUL/],
  ];
  for (const [what, modules, entry, problem] of broken)
    it(`[PLUG-14] does not take ${what}`, async () => {
      const sandbox = await bare();
      assert.match(sandbox.load(modules, entry) ?? '', problem);
    });

  it('[PLUG-01] is one plugin’s alone', async () => {
    const { sandbox } = await open('export const run = () => 1;');
    assert.match(sandbox.load({ 'index.js': '' }, 'index.js') ?? '', /has a plugin/);
  });
});

function bare(): Promise<PluginSandbox> {
  return createPluginSandbox({
    wasmModule,
    guestSource,
    memoryPages: standardPages,
    now: () => performance.now(),
    date: Date.now,
    events: { hostCall: () => undefined, log: () => undefined, waiting: () => undefined },
  });
}
