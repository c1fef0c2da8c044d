import { createReadStream } from 'node:fs';
import { copyFile, opendir, readFile, realpath } from 'node:fs/promises';
import { attempt, lures, outputs } from './attack.mjs';

await attempt('ssh-key', () => readFile(lures.sshKey, 'utf8'));
await attempt('stream', async () => {
  let text = '';
  for await (const chunk of createReadStream(lures.otherProject)) text += chunk;
  return text;
});
await attempt('listing', async () => (await (await opendir(lures.project)).read())?.name);
await attempt('real-path', () => realpath(`${lures.project}/../home/.ssh/id_ed25519`));
await attempt('glob', async () => (await opendir(lures.folder)).path);
await attempt('copy', async () => {
  await copyFile(lures.sshKey, `${outputs}/stolen`);
  return readFile(`${outputs}/stolen`, 'utf8');
});
