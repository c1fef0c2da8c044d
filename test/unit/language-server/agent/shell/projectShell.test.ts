import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import {
  findHidden,
  projectShellTool,
} from '../../../../../language-server/src/agent/shell/projectShellTool.ts';
import { namedFiles } from '../../../../../language-server/src/agent/shell/namedFiles.ts';
import { spawnRunner } from '../../../../../language-server/src/environment.ts';
import { createLocalRunner, type LocalRunner } from '../../../../../language-server/src/runners/local.ts';
import { createBlobStore } from '../../../../../remote-agent/src/files/blobStore.ts';
import { FakeRunner, noIsolation } from '../../../../support/fakeRunner.ts';
import { GateHarness } from '../../../../support/gateHarness.ts';
import { useTemporaryFolder } from '../../../../support/temporaryFolder.ts';
import { callContext, callTool } from '../../../../support/toolCalls.ts';
import { until } from '../../../../support/until.ts';

describe('project_shell', () => {
  const folder = useTemporaryFolder();
  let harness: GateHarness;
  let runner: LocalRunner;
  let mark = '1';
  let ids = 0;
  const root = () => join(folder(), 'project');
  const blobs = () => createBlobStore(join(folder(), 'blobs'));
  const tool = (by: () => Pick<LocalRunner, 'ready' | 'run'> = () => runner) =>
    projectShellTool({ runner: by, blobs, changeMark: () => mark, createId: () => `t${++ids}` });
  const grant = () =>
    harness.gate.give({ scope: 's'.repeat(64), kind: 'shell', conversation: 'c1', folder: '' });
  const call = (command: string, answers: readonly ('allow-once' | 'decline')[] = []) =>
    callTool(harness, tool(), { command, seconds: 50 }, callContext(root()), answers);

  beforeEach(async function () {
    harness = new GateHarness();
    mark = '1';
    mkdirSync(join(root(), '.git/hooks'), { recursive: true });
    mkdirSync(join(root(), 'sub/.git'), { recursive: true });
    writeFileSync(join(root(), '.git/config'), 'canary');
    writeFileSync(join(root(), 'sub/.git/config'), 'canary');
    writeFileSync(join(root(), '.npmrc'), 'canary');
    writeFileSync(join(root(), 'build.sh'), 'echo built\n');
    writeFileSync(join(folder(), 'outside'), 'canary');
    symlinkSync(join(folder(), 'outside'), join(root(), 'link'));
    // The one who runs inside is nobody of this machine.
    for (const path of [folder(), root(), join(root(), 'sub')]) chmodSync(path, 0o755);
    process.env['SALLYPORT_TEST_TOKEN'] = 'canary-of-the-environment';
    runner = createLocalRunner({
      spawn: () => spawnRunner(resolve('remote-agent/src/main.ts')),
      blobs: join(folder(), 'blobs'),
      scratch: join(folder(), 'scratch'),
      maxJobs: 2,
      onProblem: () => undefined,
    });
    mkdirSync(join(folder(), 'scratch'));
    mkdirSync(join(folder(), 'blobs'));
    if ((await runner.ready()).isolation.kind === 'none') {
      console.log('No isolation on this machine: sealed programs are not tested');
      this.skip();
    }
  });
  afterEach(async () => {
    await runner.dispose();
    harness.close();
    delete process.env['SALLYPORT_TEST_TOKEN'];
  });

  it('[PSH-01] runs real programs with the project to read, and tells status and times', async () => {
    grant();
    const done = await call('sh build.sh; pwd; echo to-error >&2');
    assert.match(
      done.text,
      /^Exit code 0\.\nIt ran \d+ ms and waited \d+ ms[^]*built\n\/project\n[^]*to-error/,
    );
    assert.equal(done.isError, false);
    assert.match((await call('exit 9')).text, /^Exit code 9\./);
    assert.match((await call('kill -9 $$')).text, /^Ended by signal SIGKILL/);
  });

  it('[PSH-01] can’t write to the project, and keeps nothing of what it writes elsewhere', async () => {
    grant();
    const { text } = await call(
      'echo x > build.sh || echo no1; touch new || echo no2; echo 1 > $HOME/x && echo 1 > /tmp/x && echo yes',
    );
    assert.match(text, /no1\nno2\nyes/);
    assert.match((await call('ls $HOME /tmp')).text, /Exit code 0/);
    assert.doesNotMatch((await call('ls $HOME /tmp')).text, /\bx\b/);
  });

  it('[SHELL-03] sees no control folder, whatever way it is asked for', async () => {
    grant();
    const { text } = await call(
      'cat .git/config sub/.git/config .npmrc link; ls -A .git sub/.git; grep -r canary . ; find . -name hooks',
      ['allow-once'],
    );
    assert.doesNotMatch(text, /canary\n|canary$|hooks/);
    // The control: without the masks the same runner shows it.
    const { digest } = blobs().putBytes(Buffer.from('{"entries":[],"version":1}'));
    let shown = '';
    const result = await runner.run(
      {
        jobId: 'control',
        cardId: 'control',
        runtime: 'command',
        entry: ['/bin/cat', '/project/.git/config'],
        code: { kind: 'directory', digest, sizeBytes: 0, files: 0 },
        inputs: [],
        outputs: [],
        params: '{}',
        limits: { seconds: 20, memoryMB: 512, processes: 16, outputMB: 16, logMB: 1 },
        access: { network: { kind: 'none' }, hostFolders: [], projectRoot: root() },
      },
      {
        started: () => undefined,
        log: (_stream, printed) => void (shown += printed),
        progress: () => undefined,
        egress: () => undefined,
      },
      new AbortController().signal,
    );
    assert.equal(shown, 'canary', JSON.stringify(result.outcome));
  });

  it('[PSH-01] has no network, no sockets and nothing of the person’s environment', async () => {
    grant();
    const server = createServer().listen(0, '127.0.0.1');
    const local = createServer().listen(join(root(), 'socket'));
    await until(() => server.listening && local.listening);
    chmodSync(join(root(), 'socket'), 0o777);
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    try {
      const dial = (to: string) =>
        `node -e "require('net').connect(${to}).on('connect',()=>console.log('CONN'+'ECTED')).on('error',e=>console.log(e.code))"`;
      const { text } = await call(
        `${dial(`${port},'127.0.0.1'`)}; ${dial("53,'8.8.8.8'")}; ${dial("'/project/socket'")}; getent hosts example.com; node -e "const s=require('dgram').createSocket('udp4');s.on('error',e=>console.log('UDP '+e.code));s.send('x',53,'8.8.8.8',e=>{console.log(e?'UDP '+e.code:'CONN'+'ECTED');s.close()})"; env`,
      );
      assert.doesNotMatch(text, /CONNECTED/);
      assert.match(text, /UDP E/);
      assert.doesNotMatch(text, /canary-of-the-environment/);
      for (const [name, value] of Object.entries(process.env)) {
        if (/TOKEN|SECRET|KEY|SSH|VSCODE/.test(name) && value) assert.ok(!text.includes(`${name}=`), name);
      }
    } finally {
      server.close();
      local.close();
    }
  });

  it('[PSH-04] gives the end of file to what asks for input', async () => {
    grant();
    const { text } = await call(
      'read x; echo "status $?"; cat; python3 -c "input()" 2>&1 | tail -1; cat < /dev/tty || echo no tty',
    );
    assert.match(text, /Standard input was empty/);
    assert.match(text, /status 1\n/);
    assert.match(text, /no tty/);
  });

  it('[SHELL-06] tells a time-out and a cancel apart from a status', async () => {
    grant();
    const timeout = await callTool(harness, tool(), { command: 'sleep 60', seconds: 1 }, callContext(root()));
    assert.match(timeout.text, /^Stopped: it ran longer than 1 s \(time-out/);
    const controller = new AbortController();
    const running = callTool(
      harness,
      tool(),
      { command: 'echo begun; sleep 60' },
      callContext(root()),
      [],
      controller.signal,
    );
    await until(() => harness.database.all("select 1 from receipts where state = 'running'").length > 0);
    controller.abort();
    assert.match((await running).text, /^Cancelled|cancelled/);
  });

  it('[SHELL-07] needs the grant of the shell; a grant to read or run is none', async () => {
    for (const kind of ['read', 'run', 'write'] as const)
      harness.gate.give({ scope: 's'.repeat(64), kind, conversation: 'c1', folder: '' });
    assert.equal((await call('true', ['decline'])).refusal, 'declined');
    grant();
    assert.equal((await call('true')).state, 'done');
  });

  it('[PSH-03] asks anew where a script that it names was changed after the question', async () => {
    const running = call('./build.sh || sh build.sh');
    await until(() => harness.gate.waiting().length > 0);
    const [asked] = harness.gate.waiting();
    assert.ok(asked?.lines.includes('It names the file build.sh.'));
    writeFileSync(join(root(), 'build.sh'), 'echo evil\n');
    harness.answer('allow-once');
    const result = await running;
    assert.equal(result.refusal, 'changed');
    assert.doesNotMatch(result.text, /evil/);
  });

  it('[PSH-03] asks anew where anything was changed through Sallyport, however the script is named', async () => {
    const running = call('sh "$(echo bu)ild.sh"');
    await until(() => harness.gate.waiting().length > 0);
    mark = '2';
    harness.answer('allow-once');
    assert.equal((await running).refusal, 'changed');
  });

  it('[PSH-02] is refused where nothing seals it', async () => {
    grant();
    const bare = new FakeRunner(blobs());
    bare.info = { ...bare.info, isolation: noIsolation };
    const result = await callTool(
      harness,
      tool(() => bare),
      { command: 'true' },
      callContext(root()),
    );
    assert.match(result.text, /bubblewrap/);
    assert.equal(result.isError, true);
    assert.deepEqual(bare.jobs, []);
  });

  it('finds control folders wherever they are, and the files that a command names', async () => {
    assert.deepEqual(await findHidden(root()), [
      { path: '.git', kind: 'directory' },
      { path: '.npmrc', kind: 'file' },
      { path: 'sub/.git', kind: 'directory' },
    ]);
    for (const command of [
      'sh build.sh',
      './build.sh;x',
      '. "./build.sh"',
      "sh '/project/build.sh'",
      'x=build.sh; sh $x',
      'cat<build.sh',
    ])
      assert.deepEqual(
        namedFiles(root(), command, '/project').map(({ name }) => name),
        ['build.sh'],
        command,
      );
    assert.deepEqual(namedFiles(root(), 'cat ../outside link /etc/passwd', '/project'), []);
  });
});
