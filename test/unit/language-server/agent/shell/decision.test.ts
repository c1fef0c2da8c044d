import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  createShellTools,
  type ShellToolDeps,
} from '../../../../../language-server/src/agent/shell/shellTools.ts';
import { prepareCall } from '../../../../../language-server/src/agent/tools/runTool.ts';
import type { GrantKind } from '../../../../../protocol/src/gate.ts';
import { GateHarness } from '../../../../support/gateHarness.ts';
import { useTemporaryFolder } from '../../../../support/temporaryFolder.ts';
import { callContext } from '../../../../support/toolCalls.ts';

const grantOf: Readonly<Record<string, GrantKind>> = { shell: 'read', project_shell: 'shell' };

describe('what decides about a command', () => {
  const folder = useTemporaryFolder();
  const tools = createShellTools({
    hasInternet: () => false,
    changeMark: () => '1',
  } as unknown as ShellToolDeps);

  for (const tool of tools) {
    it(`[SHELL-07] is never the text of ${tool.name}: any text asks, and any text is covered by the one grant`, async () => {
      const harness = new GateHarness();
      const root = join(folder(), 'empty');
      mkdirSync(root);
      const verdictOf = async (command: string) => {
        const context = callContext(root);
        const prepared = await prepareCall(tool, JSON.stringify({ command }), context);
        const { decision } = await harness.gate.tryOut({
          ...context,
          tool: tool.name,
          effect: tool.effect,
          args: prepared.args,
          permissions: prepared.permissions,
          measure: () => prepared.measure(),
          describe: prepared.describe.bind(prepared),
        });
        return decision.verdict;
      };
      const kind = grantOf[tool.name];
      assert.ok(kind);
      const others = (['read', 'write', 'run', 'shell'] as const).filter((each) => each !== kind);
      for (const other of others)
        harness.gate.give({ scope: 's'.repeat(64), kind: other, conversation: 'c1', folder: '' });
      const word = fc.constantFrom(
        'git',
        'rm',
        ';',
        '&&',
        '|',
        '\n',
        '$(',
        ')',
        '`',
        '"',
        "'",
        '<(',
        'sudo',
        ' ',
      );
      const command = fc
        .oneof(
          fc.string({ minLength: 1, unit: 'grapheme' }),
          fc.array(word, { minLength: 1 }).map((words) => words.join('')),
        )
        .filter((text) => !text.includes('\0') && text.isWellFormed());
      await fc.assert(
        fc.asyncProperty(command, async (text) => assert.equal(await verdictOf(text), 'ask')),
        { numRuns: 200 },
      );
      harness.gate.give({ scope: 's'.repeat(64), kind, conversation: 'c1', folder: '' });
      await fc.assert(
        fc.asyncProperty(command, async (text) => assert.equal(await verdictOf(text), 'allow')),
        { numRuns: 200 },
      );
      harness.close();
    });

    it(`[SHELL-07] takes no word of the model about the risk of ${tool.name}`, async () => {
      for (const extra of [
        { requires_approval: false },
        { safe: true },
        { sandbox: false },
        { approved: true },
      ]) {
        const args = JSON.stringify({ command: 'true', ...extra });
        await assert.rejects(prepareCall(tool, args, callContext(folder())), /do not fit/);
      }
    });
  }
});
