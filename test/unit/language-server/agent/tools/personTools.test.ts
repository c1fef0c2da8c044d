import assert from 'node:assert/strict';
import {
  createPersonTools,
  type PersonQuestion,
} from '../../../../../language-server/src/agent/tools/personTools.ts';
import { GateHarness } from '../../../../support/gateHarness.ts';
import { callContext, callTool } from '../../../../support/toolCalls.ts';

describe('ask_person', () => {
  it('puts the question and gives the answer, or says that there was none', async () => {
    const harness = new GateHarness();
    const asked: PersonQuestion[] = [];
    const answers = ['2012', null];
    const [tool] = createPersonTools({
      ask: async (question) => {
        asked.push(question);
        return answers.shift() ?? null;
      },
    });
    assert.ok(tool);
    const args = { question: 'Which year?', choices: ['2012', '2013'] };
    assert.equal((await callTool(harness, tool, args, callContext('/p'))).text, 'The person answered: 2012');
    assert.match((await callTool(harness, tool, args, callContext('/p'))).text, /did not answer/);
    assert.deepEqual(asked[0], { conversation: 'c1', ...args });
    assert.equal((await callTool(harness, tool, { question: '' }, callContext('/p'))).state, 'failed');
    harness.close();
  });
});
