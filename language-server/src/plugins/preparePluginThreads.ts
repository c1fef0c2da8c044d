import { readFile } from 'node:fs/promises';
import type { ResourceLimits } from 'node:worker_threads';
import { limits } from '../../../protocol/src/limits.ts';
import { startPluginThread, type PluginThread, type PluginThreadOptions } from './pluginThread.ts';

export interface PluginThreadFiles {
  /** Absolute paths: the worker's script, the QuickJS module and the prelude of plugins. */
  readonly script: string;
  readonly wasm: string;
  readonly guest: string;
}

const pageBytes = 65_536;

/** V8's own bounds, beside the memory of the instance: a plugin's texts on their way, and the stack above QuickJS's. */
const resourceLimits: ResourceLimits = {
  maxOldGenerationSizeMb: 96,
  maxYoungGenerationSizeMb: 8,
  codeRangeSizeMb: 8,
  stackSizeMb: 8,
};

/** Reads and compiles what all workers share. Rejects where a file of the installation is missing. */
export async function preparePluginThreads(
  files: PluginThreadFiles,
  options: Pick<PluginThreadOptions, 'now' | 'setTimer' | 'callMs' | 'interruptMs' | 'wallMs'>,
): Promise<() => PluginThread> {
  const [wasm, guestSource] = await Promise.all([readFile(files.wasm), readFile(files.guest, 'utf8')]);
  const wasmModule = await WebAssembly.compile(wasm);
  const memoryPages = limits.quickjsMemoryBytes / pageBytes;
  return () =>
    startPluginThread({
      ...options,
      script: files.script,
      data: { wasmModule, guestSource, memoryPages },
      resourceLimits,
    });
}
