import { registerHooks } from 'node:module';

/** Unit tests get `vscodeStub.ts` where the extension imports `vscode`, which exists in an extension host only. */
registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier !== 'vscode') return nextResolve(specifier, context);
    return { url: new URL('vscodeStub.ts', import.meta.url).href, shortCircuit: true };
  },
});
