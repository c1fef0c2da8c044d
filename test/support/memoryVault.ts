import { openSync, readSync } from 'node:fs';
import { createAgentsVault, openAgentsVault } from '../../extension/src/vault/core/agentsVault.ts';
import { createPersonalVault, openPersonalVault } from '../../extension/src/vault/core/personalVault.ts';
import { ownMemory } from '../../extension/src/vault/core/ownMemory.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';
import { quickDerivation } from './vaultHarness.ts';

/**
 * Opens vaults, uses them, locks them, and then waits for its memory to be searched. Everything random is read from
 * SOURCE straight into the memory that it is meant for, so that whoever searches knows what to look for. Prints the
 * places of the draws in SOURCE, as `[[at, length], …]`.
 *
 *     node --expose-gc memoryVault.ts FOLDER SOURCE lock|keep
 */
const [folder = '', source = '', mode = ''] = process.argv.slice(2);

const handle = openSync(source, 'r');
const draws: [number, number][] = [];
let next = 64;
const drawnInto: Buffer[] = [];
const random = (length: number): Uint8Array => {
  const bytes = ownMemory(length);
  readSync(handle, bytes, 0, length, next);
  draws.push([next, length]);
  next += length;
  drawnInto.push(bytes);
  return bytes;
};
const wipeDraws = () => drawnInto.splice(0).forEach((bytes) => bytes.fill(0));

/** The first 32 bytes of the source: a value and a password that are never a string here. */
function value(): Secret {
  const bytes = ownMemory(32);
  readSync(handle, bytes, 0, 32, 0);
  return Secret.own(bytes);
}

const place = { folder: `${folder}/agents`, counters: null, random, derive: quickDerivation };
const deviceKey = Secret.copy(random(32));
await createAgentsVault(place, deviceKey).then(({ vault }) => vault.lock());
const agents = await openAgentsVault(place, deviceKey);
if (agents.state !== 'open') throw new Error(agents.state);
const own = value();
await agents.vault.save({
  id: 'one',
  baseVersion: 0,
  title: 'One',
  kind: 'token',
  fields: [{ name: 'value', kind: 'secret', value: own }],
  hosts: [],
  tags: [],
  expiresAt: null,
});
own.wipe();
const opened = await agents.vault.open('one', 'value');
const personalPlace = { ...place, folder: `${folder}/personal` };
const password = value();
const personal = await createPersonalVault(personalPlace, password);
personal.vault.lock();
const again = await openPersonalVault(personalPlace, { password, secretKey: personal.secretKey });
if (again.state !== 'open') throw new Error(again.state);
wipeDraws();
if (mode === 'lock') {
  opened.wipe();
  password.wipe();
  deviceKey.wipe();
  agents.vault.lock();
  again.vault.lock();
}
for (let round = 0; round < 5; round++) {
  (globalThis as { gc?: () => void }).gc?.();
  await new Promise(setImmediate);
}
process.stdout.write(`${JSON.stringify(draws)}\n`);
process.stdin.resume();
