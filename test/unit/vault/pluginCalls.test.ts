import assert from 'node:assert/strict';
import { PluginCalls } from '../../../extension/src/vault/pluginCalls.ts';

describe('PluginCalls', () => {
  const cases: readonly (readonly [string, string, string, boolean])[] = [
    ['a call of the plugin', 'plugin.call', '{"plugin":"search","function":"f","input":{}}', true],
    ['a call of another plugin', 'plugin.call', '{"plugin":"other","function":"f","input":{}}', false],
    ['another call that names it', 'files.get', '{"plugin":"search"}', false],
    ['a name that goes on', 'plugin.call', '{"plugin":"search/../search"}', false],
    ['a plugin that is no text', 'plugin.call', '{"plugin":["search"]}', false],
    ['no JSON', 'plugin.call', '{"plugin":"search"', false],
    ['nothing', 'plugin.call', 'null', false],
  ];
  for (const [what, method, params, isCalled] of cases)
    it(`[VAULTUSE-28] ${isCalled ? 'takes' : 'does not take'} ${what} for one`, () => {
      const calls = new PluginCalls();
      const ended = calls.begin('notes', method, params);
      assert.equal(calls.isUnderWay('plugin:notes/search'), isCalled);
      assert.equal(calls.isUnderWay('plugin:note/search'), false);
      ended();
      assert.equal(calls.isUnderWay('plugin:notes/search'), false);
    });

  it('[VAULTUSE-28] counts two calls of one plugin apart', () => {
    const calls = new PluginCalls();
    const [first, second] = [1, 2].map(() => calls.begin('notes', 'plugin.call', '{"plugin":"search"}'));
    first?.();
    first?.();
    assert.ok(calls.isUnderWay('plugin:notes/search'));
    second?.();
    assert.ok(!calls.isUnderWay('plugin:notes/search'));
  });

  it('[VAULTUSE-28] keeps an app whose id begins like another one apart', () => {
    const calls = new PluginCalls();
    calls.begin('notes', 'plugin.call', '{"plugin":"a/b"}');
    assert.ok(!calls.isUnderWay('plugin:notes/a'));
  });
});
