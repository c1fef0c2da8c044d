import { setFlagsFromString } from 'node:v8';
import { openAgentsVault, createAgentsVault } from '../../extension/src/vault/core/agentsVault.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';
import { nodeFiles, type VaultFiles } from '../../extension/src/vault/core/vaultFiles.ts';
import { loginDraft } from './vaultHarness.ts';

/**
 * Changes a vault and ends itself with SIGKILL at the call of the file system with this number: before it, or, for a
 * write, when half of its bytes are written. Prints `done` where there were fewer calls.
 *
 *     node crashVault.ts FOLDER DEVICE-KEY ACT CALL before|half
 */
const [folder = '', deviceKey = '', act = '', call = '', mode = ''] = process.argv.slice(2);
setFlagsFromString('--no-opt');

let calls = 0;
const die = () => process.kill(process.pid, 'SIGKILL');
const mutating = [
  'writeSync',
  'fsyncSync',
  'ftruncateSync',
  'renameSync',
  'unlinkSync',
  'mkdirSync',
] as const;
let isArmed = act === 'create';

const files: VaultFiles = { ...nodeFiles };
for (const name of mutating) {
  const real = nodeFiles[name] as (...args: unknown[]) => unknown;
  const wrapped = (...args: unknown[]) => {
    if (isArmed && calls++ === Number(call)) {
      if (mode === 'half' && name === 'writeSync') {
        const [handle, bytes, offset, length, position] = args as [number, Buffer, number, number, number];
        nodeFiles.writeSync(handle, bytes, offset, Math.floor(length / 2), position);
      }
      die();
      // The signal is on its way: nothing of this process goes on.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return real(...args);
  };
  Object.assign(files, { [name]: wrapped });
}

const key = Secret.own(Buffer.from(deviceKey, 'hex'));
const place = { folder, counters: null, files };
if (act === 'create') await createAgentsVault(place, key);
else {
  const result = await openAgentsVault(place, key);
  if (result.state !== 'open') throw new Error(result.state);
  const { vault } = result;
  isArmed = true;
  if (act === 'save') await vault.save(loginDraft('one', 'second', 1));
  if (act === 'remove') await vault.remove('two');
  if (act === 'rekey') await vault.renewKeys(key);
}
process.stdout.write('done\n');
