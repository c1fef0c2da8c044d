import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Ledger } from '../../../../language-server/src/gate/ledger.ts';
import { Database } from '../../../../language-server/src/store/database.ts';
import { AgentEngine, told } from '../../../support/agentEngine.ts';
import { noteTools } from '../../../support/noteTool.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

/** Database steps at which an engine is killed, from the first to one past the last. */
const kinds = ['insert into items', 'update items', 'insert into receipts', 'update receipts', 'commit'];

describe('an engine that is killed in the middle of a conversation', function () {
  this.timeout(240_000);
  const folder = useTemporaryFolder();

  for (const kind of kinds) {
    it(`[TURN-13] is resumed with what was done, and does nothing twice: ${kind}`, async () => {
      let isWhole = false;
      let kills = 0;
      for (let count = 1; count < 60; count += kind === 'commit' ? 4 : 2) {
        const place = join(folder(), `${count}`);
        mkdirSync(place);
        writeProject(join(place, 'project'), { one: {} });
        const program = join(import.meta.dirname, '../../../support/crashAgent.ts');
        const killed = spawnSync(process.execPath, [program, place, kind, String(count)], {
          encoding: 'utf8',
          timeout: 150_000,
        });
        const [id = '', word] = killed.stdout.split('\n');
        isWhole = word === 'whole';
        if (isWhole) break;
        assert.equal(killed.signal, 'SIGKILL', killed.stderr);
        kills++;
        await assertResumed(place, id, `${kind} ${count}`);
        rmSync(place, { recursive: true });
      }
      assert.ok(isWhole, 'the step was counted to the end');
      assert.ok(kills >= 2, `${kills} kills`);
    });
  }

  async function assertResumed(place: string, id: string, what: string): Promise<void> {
    const log = { done: [] as string[] };
    const agent = new AgentEngine(join(place, 'home'), join(place, 'project'), {
      createTools: () => noteTools(log),
    });
    const database = new Database(join(place, 'home/sallyport.sqlite'));
    try {
      const list = await agent.call('conversation/list', { root: agent.root, limit: 10 });
      assert.equal(list.conversations[0]?.id, id);
      const items = await agent.items(id);
      const ledger = new Ledger(database, 'test');
      assert.equal((await agent.summary(id)).state, 'idle', what);
      assert.deepEqual(await agent.call('approval/list', {}), []);
      const done = readDone(place);
      assert.deepEqual([...new Set(done)], done, `${what}: nothing was done twice`);
      for (const item of items) {
        if (item.kind === 'answer') assert.notEqual(item.ending, 'streaming', what);
        if (item.kind !== 'tool') continue;
        assert.ok(!['writing', 'waiting', 'running'].includes(item.state), `${what}: ${item.state}`);
        const target = item.tool === 'edit' ? 'a' : 'b';
        // What was done is done or unknown, what was not is never called done.
        if (item.state === 'done') assert.ok(done.includes(target), what);
        if (done.includes(target))
          assert.ok(['done', 'unknown'].includes(item.state), `${what}: ${item.state}`);
        if (item.opId !== '') {
          const receipt = ledger.receipt(item.opId);
          if (receipt) assert.equal(receipt.state, item.state, what);
        }
      }
      assert.deepEqual(log.done, [], 'nothing is done by opening');
      await agent.connect('anthropic', [{ text: ['I go on.'] }]);
      const after = await agent.ask(id, 'Go on');
      assert.equal(told(after).at(-1), 'answer complete: I go on.', what);
      assert.deepEqual(log.done, []);
      assert.deepEqual(readDone(place), done);
    } finally {
      database.close();
      await agent.dispose();
    }
  }
});

function readDone(place: string): string[] {
  const path = join(place, 'done.txt');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}
