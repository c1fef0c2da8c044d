import assert from 'node:assert/strict';
import fc from 'fast-check';
import { cacheKey, keyParts, unkeyedSource } from '../../../../language-server/src/runs/cacheKey.ts';
import { explainChange } from '../../../../language-server/src/runs/explain.ts';
import type { FrozenCard } from '../../../../language-server/src/runs/snapshot.ts';
import { defaultCardLimits } from '../../../../protocol/src/limits.ts';

const digest = (letter: string) => letter.repeat(64);
const folder = (letter: string) =>
  ({ kind: 'directory', digest: digest(letter), sizeBytes: 1, files: 1 }) as const;
const file = (letter: string) => ({ kind: 'file', digest: digest(letter), sizeBytes: 1, files: 1 }) as const;

const card: FrozenCard = {
  id: 'a',
  title: 'A',
  runtime: 'python',
  entry: 'main.py',
  code: folder('a'),
  inputs: [{ port: 'in', type: 'table', optional: false, from: { card: 'b', port: 'out' } }],
  outputs: [{ port: 'out', type: 'json', optional: false }],
  params: { year: 2012, name: 'x' },
  limits: defaultCardLimits,
  asked: [{ name: 'network', host: 'example.org' }],
  access: { network: { kind: 'hosts', hosts: ['example.org'] }, hostFolders: [] },
  viewOutput: null,
  vault: [],
  place: 'local',
  fault: null,
};
const inputs = [{ port: 'in', artifact: file('b') }];
const environment = () => ({ platform: 'linux-x64', helper: '1', interpreter: '/usr/bin/python3 3.11' });
const partsOf = (
  over: Partial<FrozenCard>,
  given = inputs,
  place: Parameters<typeof keyParts>[2] = environment,
) => keyParts({ ...card, ...over }, given, place);
const before = partsOf({});
const noCode = () => undefined;

describe('cache key', () => {
  /** A change of each part, and how it is told. */
  const changes: readonly (readonly [string, ReturnType<typeof partsOf>, string, string])[] = [
    ['code', partsOf({ code: folder('c') }), 'code', 'a file of the card'],
    ['entry', partsOf({ entry: 'other.py' }), 'runtime', 'python main.py became python other.py'],
    ['runtime', partsOf({ runtime: 'shell' }), 'runtime', 'python main.py became shell main.py'],
    ['parameter', partsOf({ params: { year: 2013, name: 'x' } }), 'params', 'year: 2012 became 2013'],
    [
      'type of a parameter',
      partsOf({ params: { year: '2012', name: 'x' } }),
      'params',
      'year: 2012 became "2012"',
    ],
    ['parameter gone', partsOf({ params: { year: 2012 } }), 'params', 'name was removed'],
    ['input', partsOf({}, [{ port: 'in', artifact: file('c') }]), 'inputs', 'in'],
    ['input gone', partsOf({}, []), 'inputs', 'in was removed'],
    [
      'kind of output',
      partsOf({ outputs: [{ port: 'out', type: 'json', optional: true }] }),
      'outputs',
      'out: "json" became "json optional"',
    ],
    [
      'interpreter',
      partsOf({}, inputs, () => ({ ...environment(), interpreter: '/usr/bin/python3 3.12' })),
      'environment',
      'interpreter: "/usr/bin/python3 3.11" became "/usr/bin/python3 3.12"',
    ],
    [
      'permission',
      partsOf({ asked: [{ name: 'network', host: '*' }] }),
      'permissions',
      'network:* was added',
    ],
    [
      'memory',
      partsOf({ limits: { ...defaultCardLimits, memoryMB: 7 } }),
      'limits',
      'memoryMB: 1024 became 7',
    ],
  ];
  for (const [what, after, part, detail] of changes) {
    it(`changes with the ${what}, and says so`, () => {
      assert.notEqual(cacheKey(after), cacheKey(before));
      const told = explainChange(before, after, noCode);
      assert.equal(told[0]?.part, part);
      assert.equal(told[0].detail, detail);
    });
  }

  it('does not change with what can’t change a result', () => {
    const same = partsOf({
      title: 'other',
      viewOutput: 'out',
      limits: { ...defaultCardLimits, seconds: 1, logMB: 1 },
      access: { network: { kind: 'none' }, hostFolders: [] },
    });
    assert.equal(cacheKey(same), cacheKey(before));
    assert.deepEqual(explainChange(before, same, noCode), []);
  });

  it('is told apart by content, never by how parts run together', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.string()),
        fc.dictionary(fc.string(), fc.string()),
        (one, other) => {
          const equal =
            explainChange(partsOf({ params: one }), partsOf({ params: other }), noCode).length === 0;
          assert.equal(cacheKey(partsOf({ params: one })) === cacheKey(partsOf({ params: other })), equal);
        },
      ),
    );
  });

  it('names changed files and cuts a long list', () => {
    const entry = (path: string, letter: string) =>
      ({ kind: 'file', path, digest: digest(letter), sizeBytes: 1, executable: false }) as const;
    const many = Array.from({ length: 14 }, (_, at) => entry(`f${at}`, 'a'));
    const told = explainChange(before, partsOf({ code: folder('c') }), (name) =>
      name === digest('a')
        ? [entry('main.py', 'a'), entry('gone.py', 'a')]
        : [entry('main.py', 'b'), ...many],
    );
    assert.equal(told[0]?.detail, 'main.py');
    assert.equal(told[1]?.detail, 'f0 was added');
    assert.equal(told.at(-1)?.detail, 'and 6 more files');
  });

  it('knows whose results the key can’t vouch for', () => {
    assert.equal(unkeyedSource(card), null);
    assert.match(unkeyedSource({ ...card, asked: [{ name: 'unsandboxed' }] }) ?? '', /project/);
    const shared = { name: 'hostFolder', path: '~/data', mount: 'data', write: false } as const;
    assert.match(unkeyedSource({ ...card, asked: [shared] }) ?? '', /~\/data/);
  });
});
