import assert from 'node:assert/strict';
import { join } from 'node:path';
import { BatchFolder, type NodeFacts } from '../../../../remote-agent/src/batch/batchFolder.ts';
import type { BatchSystem, BatchTask } from '../../../../remote-agent/src/batch/batchSystem.ts';
import { ensureFacts } from '../../../../remote-agent/src/batch/ensureFacts.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const facts = (at: number): NodeFacts => ({
  ...{ program: 'runner.cjs', host: 'node', chosen: '', at, version: '1', platform: 'linux', node: 'v24' },
  isolation: { kind: 'bubblewrap', version: '1', checks: [], limits: 'cgroup' },
  interpreters: [],
});

describe('what a node was found to be', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  it('is there for who waits for it, whoever else begins to look anew at that moment', async () => {
    const shared = new BatchFolder(join(folder(), 'shared'), process.getuid?.() ?? -1);
    const submitted: string[] = [];
    const gate = Promise.withResolvers<undefined>();
    let asked = 0;
    const system: BatchSystem = {
      title: 'Queue',
      advice: { refused: '', otherFolder: '' },
      chosen: '',
      told: { index: '', task: '', restart: '' },
      submit: ({ name }) => (submitted.push(name), Promise.resolve({ kind: 'submitted', id: '1' })),
      states: async () => {
        asked += 1;
        if (asked === 1) await gate.promise;
        return [] as BatchTask[];
      },
      cancel: () => Promise.resolve(),
      largestRequest: () => Promise.resolve(1),
    };
    const look = (isAnew: boolean) =>
      ensureFacts({
        ...{ folder: shared, system, program: '/shared/runner.cjs', script: String, isAnew },
        ...{ now: () => 10, onStep: () => undefined, signal: new AbortController().signal },
      });
    const first = look(false);
    await until(() => asked === 1);
    shared.writeFacts(facts(1));
    const second = look(true);
    await until(() => submitted.length === 2);
    gate.resolve(undefined);
    assert.equal((await first).at, 1);
    shared.writeFacts(facts(2));
    assert.equal((await second).at, 2);
  });
});
