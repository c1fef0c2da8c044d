import { window } from 'vscode';
import type { ProjectView } from '../../../protocol/src/engine.ts';
import { approvalWords } from '../agentMessages.ts';
import type { Reports } from '../documents/reports.ts';
import type { Engine } from '../engine.ts';
import { textStep } from '../native/steps.ts';
import { plain, short } from '../plainText.ts';
import { tryOutReport } from './approvalText.ts';

/** Asks for a tool and its arguments and shows what the gate would say. Nothing is done and nothing waits. */
export async function wouldThisAsk(
  { root }: ProjectView,
  { engine, reports }: { readonly engine: Engine; readonly reports: Reports },
): Promise<void> {
  const tools = await engine.call('tool/list', {});
  const items = tools.map((tool) => ({
    label: plain(tool.name),
    description: tool.asksEachTime ? approvalWords.asksEachTime() : '',
    detail: short(tool.description, 120),
    tool,
  }));
  const title = approvalWords.tryOut();
  const chosen = await window.showQuickPick(items, { title, placeHolder: approvalWords.tryOutTool() });
  if (!chosen) return;
  const args = await textStep({
    title,
    step: 1,
    totalSteps: 1,
    prompt: approvalWords.tryOutArguments(chosen.tool.name),
    value: argumentsTemplate(chosen.tool.inputSchema),
    check: (text) => (isObject(text) ? undefined : approvalWords.notAnObject()),
  });
  if (args.kind !== 'value') return;
  const found = await engine.call('gate/tryOut', {
    root,
    conversation: null,
    tool: chosen.tool.name,
    args: args.value,
  });
  const report = tryOutReport(chosen.tool.name, found);
  await reports.show(report.title, report.text);
}

/** The arguments that a tool needs, empty, as JSON to fill in. */
function argumentsTemplate(schema: string): string {
  try {
    const parsed = JSON.parse(schema) as { required?: unknown };
    const names = Array.isArray(parsed.required) ? parsed.required.map(String) : [];
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, ''])));
  } catch {
    return '{}';
  }
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
