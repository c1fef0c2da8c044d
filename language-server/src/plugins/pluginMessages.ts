import { pluginLimits } from '../../../protocol/src/plugin.ts';
import { showHidden, showHiddenLines } from '../../../protocol/src/text.ts';

/** What people and apps read of plugins. What comes from a plugin is escaped and cut here. */
export const pluginMessages = {
  unknownPlugin: () => 'The app has no such plugin',
  unknownFunction: (name: string) => `The plugin has no function ${shown(name)} in its plugin.json`,
  off: (reason: string | null) => (reason === null ? 'The plugin is switched off' : reason),
  offByPerson: () => 'You switched this plugin off.',
  removed: () => 'You removed this plugin.',
  busy: () => 'Too many calls of this plugin, or of plugins, at once. Wait for one to end.',
  input: (problem: string) => `The input does not fit the function's schema: ${shown(problem)}`,
  output: (problem: string) => `The function's result does not fit its schema: ${shown(problem)}`,
  /** What a plugin threw or logged: lines stay lines. */
  said: (text: string) => cut(showHiddenLines(cut(text))),
  waited: () => `The call took longer than ${pluginLimits.wallMs / 1000} seconds`,
  cancelled: () => 'The call was cancelled',
  ended: () => 'The plugin was ended while it ran',
  stopped: (code: 'timeout' | 'memory' | 'broken') => `The plugin was stopped: ${stopWords[code]}`,
  switchedOff: (stops: number, code: 'timeout' | 'memory' | 'broken', functionName: string) =>
    `Switched off, as it had to be stopped ${stops} times within a day. The last time, in ${shown(functionName)}, ${stopWords[code]}. Switch it on again when it is mended, or remove it.`,
} as const;

const stopWords = {
  timeout: `it ran longer than ${pluginLimits.callMs / 1000} seconds`,
  memory: 'it needed more than 64 MB of memory',
  broken: 'its sandbox did not hold together',
} as const;

function shown(text: string): string {
  return cut(showHidden(cut(text)));
}

function cut(text: string): string {
  return text.slice(0, pluginLimits.messageLength);
}
