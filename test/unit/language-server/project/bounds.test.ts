import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../../../protocol/src/limits.ts';
import { mostProblems } from '../../../../language-server/src/manifests/problem.ts';
import { ProjectState } from '../../../../language-server/src/project/projectState.ts';
import { writeProject, type CardDraft } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

/** Projects made to keep the engine busy. Each would take minutes without its bound; mocha's time-out is the measure. */
describe('a hostile project', () => {
  const temporary = useTemporaryFolder();
  const load = () => {
    const state = new ProjectState(temporary());
    state.refresh();
    assert.ok(state.loaded);
    return state.loaded;
  };
  const many = (count: number, card: (index: number) => CardDraft) =>
    writeProject(
      temporary(),
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, card(index)])),
    );
  const ports = (count: number, from: (index: number) => string) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `p${index}`,
        { type: 'json' as const, from: from(index) },
      ]),
    );

  it('with a hundred thousand wires to nowhere', () => {
    many(100, (index) => ({ inputs: ports(1000, (port) => `d${index}x${port}/out`) }));
    for (const { problems } of load().cards.values()) assert.equal(problems.length, mostProblems + 1);
  });

  it('with one output that disagrees with every input', () => {
    many(100, () => ({ inputs: ports(300, () => 'c0/out'), outputs: { out: { type: 'image' } } }));
    for (const { problems } of load().cards.values()) assert.equal(problems.length, mostProblems + 1);
  });

  it('with one circle of two thousand cards', () => {
    const count = 2000;
    many(count, (index) => ({
      inputs: {
        a: { type: 'text', from: `c${(index + 1) % count}/out` },
        b: { type: 'text', from: `c${(index * 7) % count}/out` },
      },
    }));
    const { graph, cards } = load();
    assert.equal(graph.cyclic.size, count);
    for (const { problems } of cards.values()) assert.ok(problems.every((each) => each.message.length < 500));
  });

  it('with a hundred thousand patterns', () => {
    writeProject(temporary(), { a: {} });
    const cards = Array.from({ length: 50_000 }, (_, index) => `f${index}/*`);
    writeFileSync(join(temporary(), 'sallyport.json'), JSON.stringify({ version: 1, name: 'x', cards }));
    const { manifest, problems } = load();
    assert.equal(manifest, null);
    assert.ok(problems.some((each) => each.code === 'too-many-entries'));
    assert.ok(problems.length < 300);
  });

  it('with more text than is read', () => {
    const description = 'x'.repeat(limits.manifestBytes - 1000);
    many(40, () => ({ description }));
    const { cards, problems } = load();
    assert.ok(cards.size < 40);
    assert.deepEqual(
      problems.map((each) => [each.code, each.severity]),
      [['too-much-text', 'error']],
    );
  });
});
