import assert from 'node:assert/strict';
import { CommandRegistry } from '../../../../extension/src/commandRegistry.ts';
import { doctorReport } from '../../../../extension/src/documents/reportTexts.ts';
import type { Reports } from '../../../../extension/src/documents/reports.ts';
import type { Log } from '../../../../extension/src/log.ts';
import type { Notice } from '../../../../extension/src/messages.ts';
import { checkUsedPlaces } from '../../../../extension/src/places/checkUsedPlaces.ts';
import { registerPlaces } from '../../../../extension/src/places/registerPlaces.ts';
import type { Services } from '../../../../extension/src/services.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { PlaceView } from '../../../../protocol/src/places.ts';
import { FakeEngine } from '../../../support/fakeEngine.ts';
import { heldJob, placeFacts, placePermission, samplePlace } from '../../../support/samplePlaces.ts';
import { makeCard, makeProject } from '../../../support/sampleViews.ts';
import { until } from '../../../support/until.ts';
import { resetStub, stub } from '../../../support/vscodeStub.ts';

const image = {
  builtAt: 0,
  sizeBytes: 210_000_000,
  node: 'v24.1.0',
  packages: [{ name: 'bash', version: '5.2', sizeBytes: 7_000_000, licences: ['GPL-3+'] }],
  isOutdated: false,
};
const big = { name: 'big', host: 'big.test', port: 7337, fingerprint: 'SHA256:aaaa' };
const invitation = `sallyport-worker://big.test:7337/#${'a'.repeat(43)}.${'b'.repeat(43)}`;

describe('commands about places', () => {
  function make(
    places: PlaceView[] = [samplePlace()],
    answers: Record<string, (params: never) => unknown> = {},
  ) {
    resetStub();
    const shown: Notice[] = [];
    const errors: unknown[] = [];
    const opened: { title: string; text: string }[] = [];
    const fake = new FakeEngine({
      'place/list': () => places,
      'worker/list': () => [big],
      'vm/status': () => ({ image: null }),
      'place/choices': () => ({ kinds: ['local', 'vm', 'ssh', 'worker'], sshHosts: ['lab', 'far'] }),
      ...answers,
    });
    const log: Log = {
      info: () => undefined,
      warn: () => undefined,
      error: (_text, error) => void errors.push(error),
      show: () => undefined,
    };
    const nothing = { dispose: () => undefined };
    const card = makeCard({ permissions: [placePermission('ssh:lab')] });
    const services = {
      commands: new CommandRegistry((_id, error) => void errors.push(error)),
      engine: Object.assign(fake, { onDidChangeState: () => nothing, handle: () => nothing }),
      log,
      notifier: {
        show: (notice: Notice) => void shown.push(notice),
        showError: (error: unknown) => void errors.push(error),
      },
      reports: {
        show: async (title: string, text: string) => void opened.push({ title, text }),
      } as unknown as Reports,
      picker: {
        project: async () =>
          makeProject({ cards: [card, makeCard({ id: 'kinds', title: 'Kinds', runtime: 'js' })] }),
        card: async () => card,
      },
      projects: { onDidChange: () => nothing, projects: async () => [] },
      presence: { isPresent: true },
      workerIdentity: {},
    } as unknown as Services;
    registerPlaces(services);
    const run = (id: string, ...args: unknown[]) =>
      Promise.resolve(stub.commands.get(`sallyport.${id}`)?.(...args));
    return { fake, run, shown, errors, opened };
  }
  /** Answers the question about something that may not have been meant. */
  const sure = async (label: string, count = 1) => {
    await until(() => stub.picks.length === count && stub.picks.at(-1)!.isShown);
    stub.picks.at(-1)!.choose(label);
  };
  const box = async (count: number) => {
    await until(() => stub.boxes.length === count && stub.boxes.at(-1)!.isShown);
    return stub.boxes.at(-1)!;
  };
  const texts = (notices: readonly Notice[]) => notices.map(({ text }) => text);

  it('[PLACEUI-01] checks the place of its line, and says how things stand', async () => {
    const { run, shown, errors } = make([samplePlace()], {
      'place/check': () => samplePlace({ state: 'ready', facts: placeFacts, latencyMs: 12 }),
    });
    await run('checkPlace', { place: 'ssh:lab' });
    assert.deepEqual(errors, []);
    assert.match(texts(shown)[0] ?? '', /^lab over SSH is ready: cards are sealed by bubblewrap/);
    assert.equal(stub.progress[0]?.title, 'Looking at lab over SSH');
  });

  it('[PLACEUI-01] says what is wrong with a place, and that one is not there', async () => {
    const { run, shown } = make([samplePlace()], {
      'place/check': () => samplePlace({ state: 'refused', detail: 'No Node', remedy: 'Install it' }),
    });
    await run('checkPlace', { place: 'ssh:lab' });
    await run('checkPlace', { place: 'ssh:gone' });
    assert.deepEqual(texts(shown), [
      'lab over SSH can’t be used. No Node. Install it.',
      'There is no place ssh:gone in this window.',
    ]);
  });

  it('[VM-24] opens a terminal in either of the project’s VMs, with progress, and asks for nothing else', async () => {
    const { fake, run, errors } = make([samplePlace()], {
      'place/terminalOpen': () => ({ terminal: 'a'.repeat(24) }),
    });
    await run('openVmTerminal', { place: 'vm' });
    await run('openVmNetworkTerminal', { place: 'vm' });
    assert.deepEqual(errors, []);
    assert.deepEqual(
      fake.asked('place/terminalOpen'),
      [false, true].map((network) => ({ root: makeProject({}).root, network, columns: 80, rows: 24 })),
    );
    assert.equal(stub.terminals.length, 2);
    assert.match(stub.progress[0]?.title ?? '', /^Opening a terminal in the VM of /);
  });

  it('opens no terminal where the VM can’t be started, and passes on why', async () => {
    const { run, errors } = make([samplePlace()], {
      'place/terminalOpen': () =>
        Promise.reject(new UserError('isolation-missing', 'There is no VM image yet')),
    });
    await run('openVmTerminal');
    assert.equal(stub.terminals.length, 0);
    assert.equal((errors[0] as UserError).code, 'isolation-missing');
  });

  it('[PLACEUI-03] says that a connection was closed, and that there was none', async () => {
    const open = make([samplePlace({ state: 'ready' })], { 'place/disconnect': () => ({}) });
    await open.run('disconnectPlace', { place: 'ssh:lab' });
    assert.match(texts(open.shown)[0] ?? '', /^lab over SSH: the connection was closed/);
    const closed = make([samplePlace()], { 'place/disconnect': () => ({}) });
    await closed.run('disconnectPlace', { place: 'ssh:lab' });
    assert.deepEqual(texts(closed.shown), ['lab over SSH is not connected.']);
  });

  it('[PLACEUI-03] ends only the jobs that a person chose and confirmed', async () => {
    const { fake, run, shown } = make([samplePlace()], {
      'place/held': () => [heldJob(), heldJob({ jobId: 'j2', cardId: 'means', state: 'ended' })],
      'place/release': () => ({ released: 1 }),
    });
    stub.chosen = [['means']];
    const left = run('showHeldJobs', 'ssh:lab');
    await sure('Leave Them');
    await left;
    assert.deepEqual(fake.asked('place/release'), []);
    stub.chosen = [['means']];
    const done = run('showHeldJobs', 'ssh:lab');
    await sure('End and Forget', 2);
    await done;
    assert.deepEqual(fake.asked('place/release'), [{ place: 'ssh:lab', jobIds: ['j2'] }]);
    assert.match(texts(shown)[0] ?? '', /^One job was ended and forgotten/);
    stub.chosen = [[]];
    await run('showHeldJobs', 'ssh:lab');
    assert.equal(fake.asked('place/release').length, 1);
  });

  it('[PLACEUI-04] builds the image with progress and a way to stop, and shows what is in it', async () => {
    const { fake, run, opened, errors } = make([], {
      'vm/build': () => {
        fake.tell('vm/progress', { text: 'Unpacking', fraction: 0.5 });
        fake.tell('vm/progress', { text: 'Booting', fraction: 0.75 });
        return { status: { image }, accelerator: 'tcg' };
      },
    });
    await run('buildVmImage');
    assert.deepEqual(errors, []);
    assert.deepEqual(stub.progress[0]?.reported, [
      { message: 'Unpacking', increment: 50 },
      { message: 'Booting', increment: 25 },
    ]);
    assert.match(opened[0]?.text ?? '', /bash +5\.2 +6\.7 MB +GPL-3\+/);
  });

  it('[PLACEUI-04] replaces and removes an image only after a question', async () => {
    const { fake, run, shown } = make([], {
      'vm/status': () => ({ image }),
      'vm/remove': () => ({ freedBytes: 1024 }),
    });
    const built = run('buildVmImage');
    await sure('Leave It');
    await built;
    assert.deepEqual(fake.asked('vm/build'), []);
    const kept = run('removeVmImage');
    await sure('Keep It', 2);
    await kept;
    assert.deepEqual(fake.asked('vm/remove'), []);
    const removed = run('removeVmImage');
    await sure('Remove', 3);
    await removed;
    assert.deepEqual(texts(shown), ['The VM image was removed: 1.0 KB freed.']);
  });

  it('[PLACEUI-05] enrols with an invitation that is hidden while it is typed', async () => {
    const { fake, run, shown, errors } = make([], {
      'worker/list': () => [],
      'worker/enrol': () => big,
    });
    const done = run('enrolWorker');
    const first = await box(1);
    assert.equal(first.password, true);
    first.enter('https://big.test');
    assert.match(first.validationMessage ?? '', /no invitation/);
    first.enter(`  ${invitation}\n`);
    const second = await box(2);
    assert.equal(second.value, 'big');
    second.enter('two words');
    assert.match(second.validationMessage ?? '', /A name of letters/);
    second.enter('big');
    (await box(3)).enter('Somebody');
    await done;
    assert.deepEqual(errors, []);
    assert.deepEqual(fake.asked('worker/enrol'), [{ code: invitation, name: 'big', as: 'Somebody' }]);
    assert.match(texts(shown)[0] ?? '', /enrolled at big\.test/);
  });

  it('[PLACEUI-05] takes no name that another worker has, and sends nothing where a person turns away', async () => {
    const { fake, run } = make();
    const done = run('enrolWorker');
    (await box(1)).enter(invitation);
    const second = await box(2);
    assert.equal(second.value, '');
    second.enter('big');
    assert.match(second.validationMessage ?? '', /no other worker/);
    second.dispose();
    await done;
    assert.deepEqual(fake.asked('worker/enrol'), []);
  });

  it('[PLACEUI-05] forgets a worker after a question', async () => {
    const { fake, run } = make([], { 'worker/forget': () => ({ found: true }) });
    const kept = run('forgetWorker', { place: 'worker:big' });
    await sure('Keep It');
    await kept;
    const gone = run('forgetWorker', { place: 'worker:big' });
    await sure('Forget', 2);
    await gone;
    assert.deepEqual(fake.asked('worker/forget'), [{ name: 'big' }]);
  });

  it('[PLACEUI-02] offers what there is to choose from, and nothing of a kind that can’t be used', async () => {
    const { fake, run } = make();
    const done = run('choosePlace', { root: '/p', card: 'load' });
    await until(() => stub.picks.length === 1);
    const pick = stub.picks[0]!;
    assert.deepEqual(
      pick.items
        .filter(({ kind }) => kind !== -1)
        .map(({ label, description }) => `${label}|${description ?? ''}`),
      [
        'This computer|',
        'VM on this computer|',
        'lab over SSH|now',
        'far over SSH|',
        'Another Host…|',
        'Worker big|',
        'Enrol at a Worker…|',
      ],
    );
    pick.choose('lab over SSH');
    await done;
    assert.deepEqual(fake.asked('place/edit'), []);
  });

  it('[PLACEUI-02] says that a card in QuickJS runs here only', async () => {
    const { run, shown } = make();
    await run('choosePlace', { root: '/p', card: 'kinds' });
    assert.match(texts(shown)[0] ?? '', /^Kinds runs in QuickJS/);
    assert.equal(stub.picks.length, 0);
  });

  it('[PLACEUI-06] Doctor connects to what a person accepted and to what is connected, and to nothing else', async () => {
    const { fake } = make(
      [
        samplePlace(),
        samplePlace({ id: 'ssh:asked' }),
        samplePlace({ id: 'vm', kind: 'vm', state: 'ready', facts: placeFacts }),
      ],
      { 'place/check': ({ place }: { place: string }) => samplePlace({ id: place, state: 'refused' }) },
    );
    const cards = [
      makeCard({ permissions: [placePermission('ssh:lab')] }),
      makeCard({ permissions: [placePermission('ssh:asked', false)] }),
    ];
    const checked = await checkUsedPlaces(
      fake.engine,
      [makeProject({ cards })],
      new AbortController().signal,
    );
    assert.deepEqual(checked.map(({ id }) => id).sort(), ['ssh:lab', 'vm']);
  });
});

describe('Doctor', () => {
  it('[PLACEUI-06] does not say that everything works where a place can’t be used', () => {
    const facts = {
      isolation: placeFacts.isolation,
      interpreters: [],
      checks: [],
      home: '/home',
      node: 'v24.1.0',
    };
    const refused = samplePlace({ state: 'refused', detail: 'No Node', remedy: 'Install it' });
    assert.match(doctorReport(facts, [refused]).text, /1 of 1 checks failed[^]*\[failed\] lab over SSH/);
    assert.match(doctorReport(facts).text, /Everything that was checked works/);
  });
});
