import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  createSentinel,
  readToSentinel,
  type StartedProgram,
} from '../../../../language-server/src/runners/ssh/sentinel.ts';
import { sshParts } from '../../../support/sshPlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { useSshHosts } from '../../../support/useSshHost.ts';

/** How a host that is frozen is told from one whose shell runs nothing, with a real sshd. */
describe('whether a host answers', () => {
  const folder = useTemporaryFolder();
  const never = new AbortController().signal;
  const start = useSshHosts(folder);
  const open = async (settings: readonly string[]) => {
    const host = await start({ settings });
    const parts = sshParts({
      folder: join(folder(), 'here'),
      config: host.configBlock('lab'),
      known: host.knownLine(),
    });
    const session = await parts.sessions.open('lab', { signal: never, mayAsk: false });
    return { host, session };
  };

  for (const [title, settings] of [
    ['lets nothing through', ['AllowTcpForwarding no']],
    ['lets ways through, and gives no more channels', ['AllowTcpForwarding yes', 'MaxSessions 1']],
  ] as const)
    it(`is seen of one that ${title}; a frozen one answers when it goes on [K08]`, async () => {
      const { host, session } = await open(settings);
      await session.connection.answers();
      const { stream, ...busy } = await session.connection.exec('sleep 600');
      await busy.hostAnswers();
      host.signalSessions('SIGSTOP');
      let isAnswered = false;
      const answer = session.connection.answers().then(() => (isAnswered = true));
      // Longer than an answer takes, whatever else this machine does: another process is asked meanwhile.
      for (const round of [1, 2, 3]) {
        const other = await open([]);
        await other.session.connection.answers();
        assert.equal(isAnswered, false, `round ${round}`);
        other.session.close();
      }
      host.signalSessions('SIGCONT');
      await answer;
      stream.destroy();
      session.close();
    });

  it('is no where the connection has ended [K08]', async () => {
    const { host, session } = await open([]);
    host.signalSessions('SIGKILL');
    await session.connection.closed;
    await assert.rejects(session.connection.answers(), { code: 'closed' });
  });

  it('decides what a shell that says nothing is: incompatible, or lost [K08] [K12]', async () => {
    const { host, session } = await open([]);
    const start = () => session.connection.exec('sleep 600');
    const waits = async (program: Promise<StartedProgram>) =>
      readToSentinel(await program, createSentinel(), 300);
    await assert.rejects(waits(start()), { code: 'incompatible' });
    const program = await start();
    host.signalSessions('SIGSTOP');
    await assert.rejects(waits(Promise.resolve(program)), { code: 'closed' });
    host.signalSessions('SIGCONT');
    session.close();
  });
});
