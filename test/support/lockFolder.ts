import * as fs from 'node:fs';
import { join } from 'node:path';
import { pauseBeforeRound, tryLock, type LockFiles } from '../../remote-agent/src/files/folderLock.ts';

/**
 * Takes the lock of a folder `turns` times, as soon as a byte comes on standard input, and throws where another process
 * is inside meanwhile. With a call of the file system, counted from 0, it ends itself with SIGKILL before that call of its
 * first turn; it prints `done` where there were fewer.
 *
 *     node lockFolder.ts FOLDER TURNS [CALL]
 */
const [folder = '', turns = '', call = ''] = process.argv.slice(2);

let calls = 0;
const files = new Proxy<LockFiles>(fs, {
  get(target, name: keyof LockFiles) {
    if (calls++ === Number(call || -1)) {
      process.kill(process.pid, 'SIGKILL');
      // The signal is on its way: nothing of this process goes on.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return target[name];
  },
});

process.stdout.write('ready\n');
fs.readSync(0, Buffer.alloc(1));
for (let turn = 0; turn < Number(turns); turn += 1) {
  let lock;
  for (let round = 0; !(lock = tryLock(folder, { files })); round += 1)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseBeforeRound(round));
  // Throws where another process is here.
  fs.mkdirSync(join(folder, 'inside'));
  fs.appendFileSync(join(folder, 'turns'), '.');
  fs.rmdirSync(join(folder, 'inside'));
  lock.release();
}
process.stdout.write('done\n');
