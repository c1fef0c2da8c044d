import { terminalReader } from '../../extension/src/vault/run/readKeys.ts';

/** Run as a process of its own at a terminal: asks for two keys and says how long they are. */
const reader = terminalReader();
const first = await reader.read('Password: ');
const second = await reader.read('Secret Key: ');
process.stdout.write(`read ${first.length} and ${second.length}\n`);
process.exit(0);
