import { BridgeError } from '../../../protocol/src/bridge.ts';
import type { Json } from '../../../protocol/src/canonicalJson.ts';
import { findMismatch, type FunctionSchema } from '../../../protocol/src/functionSchema.ts';
import { NotPlain, parsePlainJson, toPlainJson } from '../../../protocol/src/plainJson.ts';
import { pluginLimits } from '../../../protocol/src/plugin.ts';
import { pluginMessages } from './pluginMessages.ts';

/** The JSON text that the plugin is given. Throws `bad-params` or `too-large`. */
export function toInput(schema: FunctionSchema, value: unknown): string {
  let input: Json;
  try {
    input = toPlainJson(value ?? null, pluginLimits.depth);
  } catch (error) {
    if (error instanceof NotPlain) throw new BridgeError('bad-params', pluginMessages.input(error.message));
    throw error;
  }
  const problem = findMismatch(schema, input, 'input');
  if (problem !== undefined) throw new BridgeError('bad-params', pluginMessages.input(problem));
  const text = JSON.stringify(input);
  if (text.length > pluginLimits.textLength)
    throw new BridgeError('too-large', `An input has at most ${pluginLimits.textLength} characters of JSON`);
  return text;
}

/** What the plugin gave, data from a stranger; or what is wrong with it. */
export function parseOutput(
  schema: FunctionSchema,
  text: string,
): { readonly output: Json } | { readonly problem: string } {
  try {
    const output = parsePlainJson(text, pluginLimits.depth);
    const problem = findMismatch(schema, output, 'output');
    return problem === undefined ? { output } : { problem };
  } catch (error) {
    if (error instanceof NotPlain) return { problem: error.message };
    throw error;
  }
}
