import assert from 'node:assert/strict';
import { allowedUses, guardedMembers } from './effects.ts';
import { Sources, type Use } from './sources.ts';

/** Whoever adds a way to act to the agent has to say here how it is behind the gate. */
describe('effects that a model could reach', function () {
  this.timeout(600_000);
  let sources: Sources;
  before(() => {
    sources = new Sources();
  });

  const spell = ({ file, from, name }: Use) => `${file}: ${name} of ${from}`;
  const allowed = new Set(
    allowedUses.flatMap(({ file, from, names }) => names.map((name) => spell({ file, from, name }))),
  );

  it('[ATTACK-02] no code of the agent holds one that is not accounted for', () => {
    assert.deepEqual(
      [...new Set(sources.riskyUses().map(spell))].filter((use) => !allowed.has(use)),
      [],
    );
  });

  it('[ATTACK-02] nothing is accounted for that is no longer there', () => {
    const found = new Set(sources.riskyUses().map(spell));
    assert.deepEqual(
      [...allowed].filter((use) => !found.has(use)),
      [],
    );
  });

  for (const { member, callers } of guardedMembers) {
    it(`[ATTACK-02] ${member} is called from where it may be, and from nowhere else`, () => {
      assert.ok(sources.declares(member), 'There is no such member.');
      assert.deepEqual(sources.callersOf(member), callers.map(({ file }) => file).sort());
    });
  }

  it('[ATTACK-02] each way of getting round it is found (control)', () => {
    const planted = {
      'agent/planted/static.ts': `import { writeFileSync, type Stats, lstatSync } from 'node:fs';\nimport * as net from 'node:net';\nimport type { Server } from 'node:http';\nexport type A = Stats | Server; export const a = [writeFileSync, lstatSync, net];\n`,
      'agent/planted/dynamic.ts': `export const a = async (name: string) => [await import('node:child_process'), await import(name)];\n`,
      'agent/planted/again.ts': `export { spawn } from 'node:child_process';\nimport 'node:sqlite';\n`,
      'agent/planted/globals.ts': `export const a = [() => fetch('https://example.org'), new Function('1'), process.kill, globalThis];\nexport const b = (fetch: () => void) => { fetch(); };\nexport type F = typeof fetch;\n`,
      'agent/planted/around.ts': `import type { PreparedCall } from '../tools/tool.ts';\nexport const a = (call: PreparedCall) => call.run(AbortSignal.abort());\n`,
      'agent/planted/imported.ts': `import { exchange as other } from '../../net/exchange.ts';\nexport const a = other;\n`,
      'agent/planted/passedOn.ts': `export { exchange } from '../../net/exchange.ts';\n`,
      'agent/planted/asWhole.ts': `import * as net from '../../net/exchange.ts';\nexport const a = net.exchange;\nexport const { exchange } = net;\n`,
      'agent/planted/late.ts': `export const a = async () => (await import('../../net/exchange.ts')).exchange;\n`,
      'agent/planted/taken.ts': `import type { PreparedCall } from '../tools/tool.ts';\nexport const a = ({ run }: PreparedCall) => run;\nexport const b = (call: PreparedCall) => call['run'];\n`,
    };
    const hostile = new Sources(planted);
    const found = hostile.riskyUses().filter(({ file }) => file.startsWith('agent/planted/'));
    assert.deepEqual(found.map(spell).sort(), [
      'agent/planted/again.ts: (whole) of node:sqlite',
      'agent/planted/again.ts: export of node:child_process',
      'agent/planted/dynamic.ts: import() of (computed)',
      'agent/planted/dynamic.ts: import() of node:child_process',
      'agent/planted/globals.ts: Function of globals',
      'agent/planted/globals.ts: fetch of globals',
      'agent/planted/globals.ts: globalThis of globals',
      'agent/planted/globals.ts: process.kill of globals',
      'agent/planted/static.ts: (whole) of node:net',
      'agent/planted/static.ts: writeFileSync of node:fs',
    ]);
    const around = hostile.callersOf('PreparedCall.run').filter((file) => file.startsWith('agent/planted/'));
    assert.deepEqual(around, ['agent/planted/around.ts', 'agent/planted/taken.ts']);
    const imports = hostile
      .callersOf('net/exchange.ts#exchange')
      .filter((file) => file.startsWith('agent/planted/'));
    assert.deepEqual(
      imports,
      ['asWhole', 'imported', 'late', 'passedOn'].map((name) => `agent/planted/${name}.ts`),
    );
  });
});
