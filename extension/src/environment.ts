import { env, execPath } from 'node:process';

/** The program and environment of the engine: this process's own Node, also where that is Electron. */
export function engineProgram(): { readonly program: string; readonly env: NodeJS.ProcessEnv } {
  return { program: execPath, env: { ...env, ELECTRON_RUN_AS_NODE: '1', ELECTRON_NO_ASAR: '1' } };
}
