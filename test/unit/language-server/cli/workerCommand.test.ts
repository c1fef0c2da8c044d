import assert from 'node:assert/strict';
import { join } from 'node:path';
import { parseArguments, UsageError } from '../../../../language-server/src/cli/arguments.ts';
import { runCommandLine } from '../../../../language-server/src/cli/main.ts';
import type { Terminal } from '../../../../language-server/src/cli/terminal.ts';
import { openProjects } from '../../../../language-server/src/project/nodeProjects.ts';
import { createEngineServices } from '../../../../language-server/src/services.ts';
import { toInvitation } from '../../../../remote-agent/src/worker/invitation.ts';
import { fingerprintOf } from '../../../../remote-agent/src/worker/identity.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { WorkerRig } from '../../../support/workerRig.ts';

describe('sallyport worker', () => {
  const folder = useTemporaryFolder();
  let rig: WorkerRig;
  let written: string[];
  let noted: string[];
  let typed: string[];
  beforeEach(async () => {
    rig = new WorkerRig(folder());
    await rig.start();
    [written, noted, typed] = [[], [], []];
  });
  afterEach(() => rig.stop());

  const sallyport = (...argv: string[]) => {
    const terminal: Terminal = {
      out: (line) => void written.push(line),
      note: (line) => void noted.push(line),
      isInteractive: typed.length > 0,
      hasColour: false,
      ask: () => Promise.resolve(typed.shift() ?? ''),
    };
    return runCommandLine(['worker', ...argv], terminal, {
      version: () => '1.2.3',
      interrupted: new AbortController().signal,
      openProjects: (path) => openProjects({ roots: [path] }),
      createServices: (projects, notify) =>
        createEngineServices({
          home: join(folder(), 'home'),
          trusted: true,
          projects,
          programs: '/nowhere',
          notify,
          onProblem: (problem) => void noted.push(problem),
        }),
    });
  };
  const invitation = () =>
    toInvitation({
      host: '127.0.0.1',
      port: rig.server.port,
      fingerprint: fingerprintOf(rig.files.signer().spki),
      secret: rig.files.invite(Date.now()),
    });

  it('[PLACEUI-05] joins with an invitation, lists, and forgets', async () => {
    assert.equal(await sallyport('join', 'big', invitation(), '--as', 'Somebody'), 0, noted.join('\n'));
    assert.deepEqual(
      rig.files.members().map(({ name }) => name),
      ['Somebody'],
    );
    written = [];
    assert.equal(await sallyport('known', '--json'), 0);
    assert.deepEqual(JSON.parse(written[0] ?? ''), {
      workers: [
        {
          name: 'big',
          host: '127.0.0.1',
          port: rig.server.port,
          fingerprint: fingerprintOf(rig.files.signer().spki),
        },
      ],
    });
    assert.equal(await sallyport('forget', 'big'), 0);
    assert.equal(await sallyport('forget', 'big'), 2);
    assert.match(noted.at(-1) ?? '', /There is no worker “big” here/);
  });

  it('[PLACEUI-05] asks for the invitation at a terminal, so that no list of processes shows it', async () => {
    typed = [invitation()];
    assert.equal(await sallyport('join', 'big'), 0, noted.join('\n'));
    assert.equal(rig.files.members().length, 1);
  });

  it('[PLACEUI-05] says what is wrong with an invitation, and is enrolled nowhere then', async () => {
    assert.notEqual(await sallyport('join', 'big', 'https://big.test'), 0);
    assert.match(noted.join('\n'), /This is no invitation of a worker/);
    const used = invitation();
    await sallyport('join', 'big', used);
    assert.notEqual(await sallyport('join', 'other', used), 0);
    written = [];
    await sallyport('known');
    assert.equal(written.length, 1);
  });

  for (const words of [['join'], ['forget'], ['known', 'x'], ['fly'], ['forget', 'a', 'b']])
    it(`refuses “worker ${words.join(' ')}” with how it is used`, async () => {
      assert.equal(await sallyport(...words), 2);
      assert.match(noted.join('\n'), /^Usage: sallyport worker join NAME/);
    });

  it('takes --as for itself alone', () => {
    assert.equal(parseArguments(['worker', 'join', 'a', 'b', '--as', 'Me']).as, 'Me');
    assert.throws(() => parseArguments(['run', '.', '--as', 'Me']), UsageError);
  });
});
