import { openAgentsVault } from '../../extension/src/vault/core/agentsVault.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';
import { loginDraft } from './vaultHarness.ts';

/**
 * One of several processes that change one vault at the same time: saves items of its own, a shared one after reading
 * it, and rewrites the log now and then.
 *
 *     node raceVault.ts FOLDER DEVICE-KEY NAME ROUNDS
 */
const [folder = '', deviceKey = '', name = '', rounds = ''] = process.argv.slice(2);
const key = Secret.own(Buffer.from(deviceKey, 'hex'));
const result = await openAgentsVault({ folder, counters: null }, key);
if (result.state !== 'open') throw new Error(result.state);
const { vault } = result;
let sharedSaves = 0;
for (let round = 0; round < Number(rounds); round++) {
  await vault.save(loginDraft(`${name}-${round}`, `value ${round}`));
  for (;;) {
    await vault.refresh();
    try {
      await vault.save(loginDraft('shared', `${name} ${round}`, vault.get('shared')?.version ?? 0));
      sharedSaves++;
      break;
    } catch (error) {
      if ((error as { code?: string }).code !== 'changed-elsewhere') throw error;
    }
  }
  if (round % 4 === 3) await vault.remove(`${name}-${round - 3}`);
}
process.stdout.write(`${sharedSaves}\n`);
