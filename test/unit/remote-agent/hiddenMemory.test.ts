import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { hiddenMemory, queuedBytes } from '../../../remote-agent/src/hiddenMemory.ts';

const programs = ['/usr/bin/bwrap', '/usr/bin/python3'] as const;

/**
 * Fills a connection that nobody reads, closes it, and closes the other end after that: what was sent then belongs to
 * sockets that no process has. Says its number first; goes on a
 * step with each line, and says how many bytes there are.
 */
const orphan = `
import os, socket
print(os.getpid(), flush=True); input()
listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen(1)
sender = socket.socket(); sender.connect(listener.getsockname()); sender.setblocking(False)
sent = 0
try:
    while True: sent += sender.send(bytes(65536))
except BlockingIOError: pass
reader, _ = listener.accept()
sender.close(); listener.close()
print(sent, flush=True); input()
reader.close()
print(0, flush=True); input()
`;

describe('memory that no process shows', () => {
  it('[JOB-06] adds up what waits in both directions of all connections', () => {
    const head =
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
    const lines = [
      '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0',
      '   1: 0100007F:1F90 0100007F:8AE2 01 00010000:000000FF 01:00000014 00000000     0        0 2 1 0 100 0',
      '   2: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:8AE2 01 00000001:00000002 00:00000000 0 0',
    ];
    assert.equal(queuedBytes(head + lines.join('\n')), 0x10000 + 0xff + 3);
    assert.equal(queuedBytes(head), 0);
  });

  it('[JOB-06] is nothing where there is no such process', () => {
    assert.equal(hiddenMemory(2 ** 30, true), 0);
  });

  it('[JOB-06] counts what was sent by a socket that is closed, and nothing where there is no socket', async function () {
    const missing = programs.filter((path) => !existsSync(path));
    if (process.platform !== 'linux' || missing.length > 0) {
      console.log(`      needs Linux and ${programs.join(' and ')}`);
      this.skip();
    }
    const [bwrap, python] = programs;
    const words = [
      ...['--unshare-user', '--unshare-net', '--die-with-parent', '--ro-bind', '/', '/'],
      // Files in memory of this machine would count.
      ...['--tmpfs', '/tmp', '--tmpfs', '/dev/shm', '--', python, '-c', orphan],
    ];
    const child = spawn(bwrap, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('close', resolve));
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const step = async () => Number((await lines.next()).value);
      const pid = await step();
      const waiting = () => hiddenMemory(pid, true) - hiddenMemory(pid, false);
      const before = waiting();
      child.stdin.write('\n');
      const sent = await step();
      const full = waiting();
      child.stdin.write('\n');
      await step();
      // The kernel takes them away when it has the time.
      for (let left = 6000; waiting() > 0 && left > 0; left--) await pause(10);
      assert.ok(sent > 100_000, String(sent));
      assert.equal(before, 0);
      assert.ok(full >= sent, `${full} of ${sent} bytes`);
      assert.equal(waiting(), 0);
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
  });
});
