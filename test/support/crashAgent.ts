import { join } from 'node:path';
import { AgentEngine } from './agentEngine.ts';
import { noteTools } from './noteTool.ts';
import { appendFileSync } from 'node:fs';
import { until } from './until.ts';
import { killAtStep } from './killAtStep.ts';

/**
 * An engine with an agent in a process of its own, to be killed: answers one message in the project of `argv[2]` (its
 * folder holds `home` and `project`) and kills itself with SIGKILL before the `argv[4]`-th database step that begins
 * with `argv[3]`. What the tools did is appended to `done.txt`, past which no crash can go back.
 */
const [, , folder = '', kind = '', countText = '1'] = process.argv;

const done = join(folder, 'done.txt');
const log = {
  done: [] as string[],
  hold: async (text: string) => appendFileSync(done, `${text}\n`),
};
const agent = new AgentEngine(join(folder, 'home'), join(folder, 'project'), {
  createTools: () => noteTools(log),
});
await agent.connect('anthropic', [
  { text: ['I ', 'change ', 'it.'], calls: [{ name: 'edit', args: { text: 'a' } }] },
  { text: ['And ', 'more.'], calls: [{ name: 'delete', args: { text: 'b' } }] },
  { text: ['Done.'] },
]);
const { id } = await agent.create('anthropic');
await agent.call('grant/give', { root: agent.root, kind: 'write', conversation: id, folder: '' });
process.stdout.write(`${id}\n`);

killAtStep(['run', 'exec', 'get'], kind, Number(countText));
await agent.send(id, 'Go');
await until(async () => ['idle', 'failed'].includes((await agent.summary(id)).state));
process.stdout.write('whole\n');
await agent.dispose();
