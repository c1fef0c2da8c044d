import { Journal } from '../../language-server/src/history/journal.ts';
import { Database } from '../../language-server/src/store/database.ts';
import { createBlobStore } from '../../remote-agent/src/files/blobStore.ts';

/** Changes files of a project until it is killed, saying each turn: `changeForever.ts ROOT DATABASE BLOBS ENGINE`. */
const [root = '', database = '', blobs = '', engine = ''] = process.argv.slice(2);
let ids = 0;
const journal = new Journal({
  database: new Database(database),
  blobs: createBlobStore(blobs),
  engine,
  createId: () => `${engine}-${++ids}`,
  now: () => ids,
  limitBytes: 1e9,
  onChanged: () => undefined,
});
for (let turn = 1; ; turn++) {
  const group = `${engine}-turn-${String(turn).padStart(6, '0')}`;
  const wanted = Array.from({ length: 8 }, (_, index) => {
    const place = { base: root, path: `d${(turn + index) % 3}/f${index}` };
    if ((turn + index) % 4 === 0) return { place, to: { kind: 'absent' as const } };
    const { digest } = journal.keep(Buffer.from(`${engine} ${turn} ${index}`));
    return { place, to: { kind: 'file' as const, digest, mode: null } };
  });
  const context = { root, principal: 'agent' as const, conversation: null, group, groupTitle: group };
  await journal.change(context, wanted);
  process.stdout.write(`${group}\n`);
}
