import { createRequire } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);

/** What the QuickJS runner needs, from the sources: the worker's TypeScript, the guest's prelude, the npm module. */
export const quickjsFiles = {
  script: join(root, 'sandbox-worker/src/worker.ts'),
  guest: join(root, 'sandbox-worker/src/guest.js'),
  wasm: require.resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm'),
} as const;
