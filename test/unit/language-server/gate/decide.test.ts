import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  effectKinds,
  grantKinds,
  type EffectKind,
  type Grant,
  type Target,
} from '../../../../protocol/src/gate.ts';
import {
  coveringGrant,
  decide,
  decisionTable,
  type Facts,
} from '../../../../language-server/src/gate/decide.ts';

const inside: Target = {
  kind: 'path',
  name: 'src/main.ts',
  measure: null,
  isProtected: false,
  isOutside: false,
};

function facts(overrides: Partial<Facts> = {}): Facts {
  return {
    principal: 'agent',
    effect: 'read',
    targets: [inside],
    widens: 0,
    trusted: true,
    mode: 'act',
    grants: [],
    conversation: 'c1',
    ...overrides,
  };
}

function grant(kind: Grant['kind'], overrides: Partial<Grant> = {}): Grant {
  return { id: kind, kind, scope: 's', conversation: 'c1', folder: '', createdAt: 0, ...overrides };
}

function storing(principal: Facts['principal'], app: string, measure: string | null = '16'): Partial<Facts> {
  const target: Target = { kind: 'storage', name: app, measure, isProtected: false, isOutside: false };
  return { principal, effect: 'store', targets: [target] };
}

const all = grantKinds.map((kind) => grant(kind));

describe('decide', () => {
  const table: readonly [string, Partial<Facts>, string, string][] = [
    ['reads without a grant', {}, 'ask', 'no-grant'],
    ['reads with one', { grants: [grant('read')] }, 'allow', 'granted'],
    [
      'a grant of another conversation',
      { grants: [grant('read', { conversation: 'c2' })] },
      'ask',
      'no-grant',
    ],
    ['a grant of the whole project', { grants: [grant('read', { conversation: null })] }, 'allow', 'granted'],
    ['a folder grant, inside', { grants: [grant('read', { folder: 'src' })] }, 'allow', 'granted'],
    ['a folder grant, beside', { grants: [grant('read', { folder: 'sr' })] }, 'ask', 'no-grant'],
    ['a write with only a read grant', { effect: 'write', grants: [grant('read')] }, 'ask', 'no-grant'],
    ['a write with its grant', { effect: 'write', grants: all }, 'allow', 'granted'],
    [
      'a protected file, all granted',
      { effect: 'write', grants: all, targets: [{ ...inside, isProtected: true }] },
      'ask',
      'protected',
    ],
    [
      'a delete outside',
      { effect: 'delete', grants: all, targets: [{ ...inside, isOutside: true }] },
      'deny',
      'write-outside',
    ],
    ['a read outside', { grants: all, targets: [{ ...inside, isOutside: true }] }, 'ask', 'read-outside'],
    ['a save that widens', { effect: 'saveCard', grants: all, widens: 1 }, 'ask', 'widening'],
    [
      'a save that does not',
      { effect: 'saveCard', grants: all, targets: [{ ...inside, isProtected: true }] },
      'allow',
      'granted',
    ],
    ['deleting history', { effect: 'deleteHistory', grants: all }, 'ask', 'each-time'],
    ['clearing the cache', { effect: 'clearCache', grants: all }, 'ask', 'each-time'],
    ['fetching', { effect: 'fetch', grants: all }, 'ask', 'each-time'],
    ['undo by an agent', { effect: 'undo', grants: all }, 'deny', 'undo'],
    ['a write in plan mode', { effect: 'write', mode: 'plan', grants: all }, 'deny', 'plan-mode'],
    ['a run in plan mode', { effect: 'run', mode: 'plan', grants: all }, 'deny', 'plan-mode'],
    ['a read in plan mode', { mode: 'plan', grants: all }, 'allow', 'granted'],
    ['untrusted', { trusted: false, grants: all }, 'deny', 'untrusted'],
    ['a person', { principal: 'person', effect: 'deleteHistory' }, 'allow', 'person'],
    ['a person, untrusted', { principal: 'person', effect: 'run', trusted: false }, 'deny', 'untrusted'],
    ['a card', { principal: 'card:load', grants: all }, 'deny', 'not-an-agent'],
    ['a plugin', { principal: 'plugin:notes/search', grants: all }, 'deny', 'not-an-agent'],
    [
      'an app that asks a model',
      { principal: 'app:notes', effect: 'provider', targets: [{ ...inside, kind: 'connection' }] },
      'allow',
      'app-provider',
    ],
    ['an app that widens', { principal: 'app:notes', effect: 'provider', widens: 1 }, 'deny', 'not-an-agent'],
    ['a card that asks a model', { principal: 'card:load', effect: 'provider' }, 'deny', 'not-an-agent'],
    ['a model request', { effect: 'provider' }, 'allow', 'provider'],
    [
      'a model request of nobody’s conversation',
      { effect: 'provider', conversation: null },
      'deny',
      'otherwise',
    ],
    [
      'a model request by an external agent',
      { principal: 'external-agent', effect: 'provider' },
      'deny',
      'external-provider',
    ],
    ['a question', { effect: 'ask' }, 'allow', 'question'],
    ['a question, untrusted', { effect: 'ask', trusted: false }, 'allow', 'question'],
    ['a question that widens', { effect: 'ask', widens: 1, grants: all }, 'ask', 'widening'],
    ['a question that widens, untrusted', { effect: 'ask', widens: 1, trusted: false }, 'deny', 'untrusted'],
    ['a question that the vault puts', { effect: 'askVault' }, 'allow', 'vault-question'],
    [
      'a question that the vault puts, in plan mode',
      { effect: 'askVault', mode: 'plan' },
      'allow',
      'vault-question',
    ],
    [
      'a question that the vault puts, untrusted',
      { effect: 'askVault', trusted: false },
      'deny',
      'untrusted',
    ],
    ['a question that the vault puts, widening', { effect: 'askVault', widens: 1 }, 'ask', 'widening'],
    ['a card that asks the vault', { principal: 'card:load', effect: 'askVault' }, 'deny', 'not-an-agent'],
    [
      'a plugin that asks the vault',
      { principal: 'plugin:notes/search', effect: 'askVault' },
      'deny',
      'not-an-agent',
    ],
    [
      'an app that stores, untrusted',
      { ...storing('app:notes', 'notes'), trusted: false },
      'allow',
      'own-storage',
    ],
    ['a plugin that stores', storing('plugin:notes/search', 'notes'), 'allow', 'own-storage'],
    ['an app that stores with another one', storing('app:notes', 'board'), 'deny', 'not-an-agent'],
    ['a plugin named after another app', storing('plugin:board/notes', 'notes'), 'deny', 'not-an-agent'],
    ['an app whose storage nobody accepted', storing('app:notes', 'notes', null), 'deny', 'not-an-agent'],
    [
      'an app that stores in no place',
      { ...storing('app:notes', 'notes'), targets: [] },
      'deny',
      'not-an-agent',
    ],
    [
      'an app that stores and widens',
      { ...storing('app:notes', 'notes'), widens: 1 },
      'deny',
      'not-an-agent',
    ],
    ['a card that stores', storing('card:notes', 'notes'), 'deny', 'not-an-agent'],
    ['an agent that stores', storing('agent', 'agent'), 'deny', 'otherwise'],
    [
      'a real shell without its grant',
      { effect: 'projectShell', grants: [grant('read'), grant('write')] },
      'ask',
      'no-grant',
    ],
  ];
  for (const [name, overrides, verdict, rule] of table) {
    it(`[GATE-05] ${name}: ${verdict} by ${rule}`, () => {
      const decision = decide(facts(overrides));
      assert.deepEqual([decision.verdict, decision.rule.id], [verdict, rule]);
    });
  }

  it('[GATE-05] denies where no row holds, and where a row throws', () => {
    assert.equal(decide(facts({ effect: 'unheard' as EffectKind })).rule.id, 'otherwise');
    const broken = facts();
    Object.defineProperty(broken, 'trusted', { get: () => assert.fail('broken') });
    assert.deepEqual([decide(broken).verdict, decide(broken).rule.id], ['deny', 'check-failed']);
  });

  const anyFacts = fc.record<Facts>({
    principal: fc.constantFrom('person', 'agent', 'external-agent', 'card:a', 'app:b', 'plugin:a/b'),
    effect: fc.constantFrom(...effectKinds),
    targets: fc.array(
      fc.record<Target>({
        kind: fc.constantFrom('path', 'host', 'run', 'storage'),
        name: fc.constantFrom('src/main.ts', 'src', 'other', 'a', 'b', ''),
        measure: fc.constantFrom(null, '16'),
        isProtected: fc.boolean(),
        isOutside: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    widens: fc.nat(2),
    trusted: fc.boolean(),
    mode: fc.constantFrom('plan', 'act'),
    grants: fc.array(
      fc.record<Grant>({
        id: fc.string(),
        kind: fc.constantFrom(...grantKinds),
        scope: fc.constant('s'),
        conversation: fc.constantFrom(null, 'c1', 'c2'),
        folder: fc.constantFrom('', 'src'),
        createdAt: fc.nat(),
      }),
      { maxLength: 4 },
    ),
    conversation: fc.constantFrom(null, 'c1'),
  });

  it('[GATE-06] never lets a grant cover widening, protected files, the outside, history or another conversation', () => {
    fc.assert(
      fc.property(anyFacts, (each) => {
        const { verdict, rule } = decide(each);
        if (each.principal === 'person' || verdict !== 'allow') return;
        assert.ok(each.trusted || each.effect === 'ask' || rule.id === 'own-storage');
        if (rule.id === 'app-provider') assert.equal(each.effect, 'provider');
        else if (rule.id === 'own-storage')
          assert.match(`${each.principal} ${each.targets[0]?.name}`, /^(app:b b|plugin:a\/b a)$/);
        else if (rule.id === 'plugin-value') assert.match(each.principal, /^plugin:/);
        else assert.ok(each.principal === 'agent' || each.principal === 'external-agent');
        assert.equal(each.widens, 0);
        assert.ok(!each.targets.some(({ isOutside }) => isOutside));
        assert.ok(!['deleteHistory', 'clearCache', 'undo'].includes(each.effect));
        assert.ok(each.effect !== 'fetch' || rule.id === 'plugin-value');
        if (rule.id !== 'granted') return;
        const used = coveringGrant(each);
        assert.ok(used && (used.conversation === null || used.conversation === each.conversation));
        const isWrite = ['write', 'delete', 'rename', 'projectShell'].includes(each.effect);
        assert.ok(!(isWrite && each.targets.some(({ isProtected }) => isProtected)));
      }),
      { numRuns: 2000 },
    );
  });

  it('[GATE-06] a grant never takes anything away, and taking all grants away never opens anything', () => {
    const order = { deny: 0, ask: 1, allow: 2 };
    fc.assert(
      fc.property(anyFacts, (each) => {
        const without = decide({ ...each, grants: [] }).verdict;
        assert.ok(order[without] <= order[decide(each).verdict]);
      }),
    );
  });

  it('[GATE-07] every row has an id of its own and a sentence', () => {
    const ids = decisionTable.map(({ id }) => id);
    assert.deepEqual(ids, [...new Set(ids)]);
    for (const { text } of decisionTable) assert.match(text, /\.$/);
  });
});
