import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { createCatalog, toolLists } from '../../../../language-server/src/agent/catalog.ts';
import {
  createShellTools,
  type ShellToolDeps,
} from '../../../../language-server/src/agent/shell/shellTools.ts';
import { about, defineTool } from '../../../../language-server/src/agent/tools/defineTool.ts';
import { createFileTools, type FileToolDeps } from '../../../../language-server/src/agent/tools/fileTools.ts';
import { decide } from '../../../../language-server/src/gate/decide.ts';
import { createNetTools, type NetToolDeps } from '../../../../language-server/src/agent/tools/netTools.ts';
import { createPersonTools } from '../../../../language-server/src/agent/tools/personTools.ts';
import type { RunToolDeps } from '../../../../language-server/src/agent/tools/runServices.ts';
import { createRunTools } from '../../../../language-server/src/agent/tools/runTools.ts';
import {
  createVaultTools,
  type VaultToolDeps,
} from '../../../../language-server/src/agent/tools/vaultTools.ts';
import type { Tool } from '../../../../language-server/src/agent/tools/tool.ts';

const prepare = () => Promise.reject(new Error('not called'));
const make = (name: string, changes: Partial<Tool> = {}): Tool => ({
  ...defineTool({
    name,
    description: 'Does it.',
    input: z.strictObject({ path: about('A path.', z.string()) }),
    list: 'ordinary',
    effect: 'read',
    prepare,
  }),
  ...changes,
});

describe('tool catalogue', () => {
  const lists = { ordinary: ['one', 'two'], perCall: ['three'] };
  const three = make('three', { list: 'perCall' });

  it('[CAT-01] takes tools that fit their lists, in the lists’ order', () => {
    const catalog = createCatalog([three, make('two'), make('one')], lists);
    assert.deepEqual(
      catalog.descriptions.map(({ name, asksEachTime }) => [name, asksEachTime]),
      [
        ['one', false],
        ['two', false],
        ['three', true],
      ],
    );
    assert.equal(catalog.find('two')?.name, 'two');
    assert.equal(catalog.find('four'), undefined);
    assert.match(catalog.descriptions[2]?.description ?? '', /asked for each call/);
  });

  const faults: readonly [string, readonly Tool[], Parameters<typeof createCatalog>[1], RegExp][] = [
    ['a listed tool that is not there', [make('one'), three], lists, /two is listed and not there/],
    ['a tool in no list', [make('one'), make('two'), three, make('four')], lists, /four is in no list/],
    ['a doubled tool', [make('one'), make('one'), make('two'), three], lists, /one is there twice/],
    ['a name listed twice', [make('one')], { ordinary: ['one'], perCall: ['one'] }, /one is listed twice/],
    ['a tool of the other list', [make('one'), make('two'), make('three')], lists, /three says ordinary/],
    ['a bad name', [make('One')], { ordinary: ['One'], perCall: [] }, /"One" is no name/],
    [
      'no description',
      [make('one', { description: ' ' })],
      { ordinary: ['one'], perCall: [] },
      /no description/,
    ],
    [
      'an argument without description',
      [make('one', { input: z.strictObject({ path: z.string() }) })],
      { ordinary: ['one'], perCall: [] },
      /argument path has no description/,
    ],
    [
      'a schema that takes anything',
      [make('one', { input: z.looseObject({}) })],
      { ordinary: ['one'], perCall: [] },
      /anything beside/,
    ],
    ['no object', [make('one', { input: z.string() })], { ordinary: ['one'], perCall: [] }, /no object/],
    [
      'a schema that JSON can’t say',
      [make('one', { input: z.strictObject({ at: about('x', z.date()) }) })],
      { ordinary: ['one'], perCall: [] },
      /one: /,
    ],
  ];
  for (const [what, tools, listed, message] of faults) {
    it(`[CAT-01] stops at ${what}`, () => {
      assert.throws(() => createCatalog(tools, listed), message);
    });
  }

  it('[CAT-02] holds every tool of the engine, and no other', () => {
    const none = new Proxy({}, { get: () => () => assert.fail('opened too early') });
    const tools = [
      ...createFileTools({ ripgrep: null } as FileToolDeps),
      ...createRunTools(none as RunToolDeps),
      ...createShellTools(none as ShellToolDeps),
      ...createNetTools(none as NetToolDeps),
      ...createPersonTools({ ask: prepare }),
      ...createVaultTools(none as VaultToolDeps),
    ];
    const catalog = createCatalog(tools);
    assert.deepEqual(catalog.tools.length, toolLists.ordinary.length + toolLists.perCall.length);
    for (const { inputSchema } of catalog.descriptions)
      assert.equal(inputSchema['additionalProperties'], false);
    // What is asked for each time is what the decision table asks for each time.
    for (const { name, effect, list } of catalog.tools) {
      const { verdict } = decide({
        principal: 'agent',
        effect,
        targets: [],
        widens: 0,
        trusted: true,
        mode: 'act',
        grants: (['read', 'write', 'run', 'shell'] as const).map((kind) => ({
          id: kind,
          kind,
          scope: 's',
          conversation: null,
          folder: '',
          createdAt: 1,
        })),
        conversation: 'c1',
      });
      assert.equal(verdict, list === 'perCall' ? 'ask' : 'allow', name);
    }
  });
});
