import assert from 'node:assert/strict';
import type { CardJob } from '../../../../language-server/src/runners/cardRunner.ts';
import { VmPlace, type Vm, type VmKind } from '../../../../language-server/src/runners/vm/vmPlace.ts';
import { summarizeVms } from '../../../../language-server/src/runners/vm/vmView.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { PlaceView } from '../../../../protocol/src/places.ts';
import { emptyResult, type JobResult } from '../../../../protocol/src/runner.ts';
import { jobWith } from '../../../support/jobs.ts';
import { Heard } from '../../../support/remotePlace.ts';

const never = new AbortController().signal;
const view = (more: Partial<PlaceView> = {}): PlaceView => ({
  ...{ id: 'vm', kind: 'vm', state: 'ready', detail: '', remedy: '' },
  ...{ facts: null, running: 0, latencyMs: null, ...more },
});

/** VMs that keep what they are sent until a test ends it. */
class FakeVms {
  readonly made: (FakeVm & { readonly kind: VmKind })[] = [];
  readonly place = new VmPlace({
    memoryMB: 1024,
    find: () => Promise.resolve(undefined),
    create: (kind) => {
      const vm = new FakeVm(kind.shares.length > 0);
      this.made.push(Object.assign(vm, { kind }));
      return Promise.resolve(vm);
    },
    sharesOf: (folders) =>
      folders.map(({ path, write }) => {
        if (path === '/bad') throw new UserError('unsafe-path', 'not that one');
        return { path, write, identity: '1:1' };
      }),
  });
  #count = 0;

  run(folders: readonly (readonly [string, boolean])[], more: Partial<CardJob> = {}) {
    const hostFolders = folders.map(([path, write], at) => ({ path, write, name: `f${at}` }));
    this.#count += 1;
    const spec = jobWith({ jobId: `job-${this.#count}`, access: { network: { kind: 'none' }, hostFolders } });
    return this.place.run({ ...spec, project: 'one', ...more }, new Heard(), never);
  }
}

class FakeVm implements Vm {
  readonly endsWithEngine: boolean;
  readonly jobs: CardJob[] = [];
  readonly events: string[] = [];
  readonly ends: ((result: JobResult) => void)[] = [];
  project = '';
  state: PlaceView['state'] = 'ready';
  readonly runner: Vm['runner'];

  constructor(endsWithEngine: boolean) {
    this.endsWithEngine = endsWithEngine;
    const nothing = () => Promise.reject(new Error('not asked here'));
    this.runner = {
      id: 'vm',
      ready: nothing,
      probe: nothing,
      view: () => view({ state: this.state, running: this.jobs.length }),
      held: () => {
        this.events.push('held');
        return Promise.resolve([]);
      },
      release: () => Promise.resolve(0),
      disconnect: () => undefined,
      run: (job) => {
        this.jobs.push(job);
        return new Promise((resolve) =>
          this.ends.push((result) => {
            this.jobs.splice(this.jobs.indexOf(job), 1);
            resolve(result);
          }),
        );
      },
      dispose: () => Promise.resolve(void this.events.push('disposed')),
    };
  }
  assign(project: string): void {
    this.project = project;
  }
  stop(): Promise<void> {
    this.events.push('stopped');
    return Promise.resolve();
  }
  release(): void {
    this.events.push('released');
  }
}

const done = emptyResult({ kind: 'exited', exitCode: 0 });
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('VMs as one place', () => {
  it('[VM-11] gives a card with folders a VM of its project that has exactly those', async () => {
    const vms = new FakeVms();
    const running = [
      vms.run([['/a', false]]),
      vms.run([]),
      vms.run([['/a', true]]),
      vms.run([['/a', false]]),
      vms.run([['/a', false]], { project: 'two' }),
    ];
    await turn();
    assert.deepEqual(
      vms.made.map(({ kind, jobs }) => [kind.shares.map(({ path, write }) => [path, write]), jobs.length]),
      [
        [[['/a', false]], 2],
        [[], 1],
        [[['/a', true]], 1],
        [[['/a', false]], 1],
      ],
    );
    assert.equal(new Set(vms.made.map(({ project }) => project)).size, 4);
    for (const { ends } of vms.made) ends.splice(0).forEach((end) => end(done));
    for (const result of await Promise.all(running)) assert.equal(result, done);
  });

  it('starts none for a card that still waited for its VM as the engine ended', async () => {
    const made = Promise.withResolvers<Vm>();
    const place = new VmPlace({
      memoryMB: 1024,
      find: () => Promise.resolve(undefined),
      create: () => made.promise,
      sharesOf: () => [],
    });
    const running = place.run({ ...jobWith({}), project: 'one' }, new Heard(), never);
    await place.dispose();
    const vm = new FakeVm(false);
    made.resolve(vm);
    assert.equal((await running).outcome.kind, 'cancelled');
    assert.deepEqual([vm.events, vm.jobs], [['disposed', 'stopped', 'released'], []]);
  });

  it('leaves one of an earlier engine, found as this one ended, to the next', async () => {
    const found = Promise.withResolvers<Vm>();
    const place = new VmPlace({
      memoryMB: 1024,
      find: () => found.promise,
      create: () => Promise.reject(new Error('There is one')),
      sharesOf: () => [],
    });
    const running = place.run({ ...jobWith({}), project: 'one' }, new Heard(), never);
    await place.dispose();
    const vm = new FakeVm(false);
    found.resolve(vm);
    assert.equal((await running).outcome.kind, 'cancelled');
    assert.deepEqual([vm.events, vm.jobs], [['disposed', 'released'], []]);
  });

  it('answers for a card as the VM that it will run in, whose vault key is its own', async () => {
    const vms = new FakeVms();
    const network = { kind: 'hosts' as const, hosts: ['a.test'] };
    const asking = vms.place.ready({ project: 'one', access: { network, hostFolders: [] } });
    await assert.rejects(asking, /not asked here/);
    void vms.run([], { access: { network, hostFolders: [] } });
    await turn();
    assert.deepEqual(
      vms.made.map(({ kind, jobs }) => [kind.network, jobs.length]),
      [[true, 1]],
    );
  });

  it('[VM-11] tells the VM where it has them, and nothing of where they lie here', async () => {
    const vms = new FakeVms();
    const running = vms.run([
      ['/a', false],
      ['/b', true],
    ]);
    await turn();
    const [vm] = vms.made;
    assert.deepEqual(vm?.jobs[0]?.access.hostFolders, [
      { path: '/run/sallyport/shares/0', name: 'f0', write: false },
      { path: '/run/sallyport/shares/1', name: 'f1', write: true },
    ]);
    vm.ends[0]?.(done);
    await running;
  });

  for (const [what, write, stops] of [
    ['writes to a folder', true, true],
    ['only reads', false, false],
  ] as const) {
    it(`[VM-12] ${stops ? 'ends' : 'keeps'} the VM of a card that ${what} when its end is not known`, async () => {
      const vms = new FakeVms();
      const running = vms.run([['/a', write]]);
      await turn();
      vms.made[0]?.ends[0]?.(emptyResult({ kind: 'unknown', detail: '' }));
      await running;
      assert.deepEqual(vms.made[0]?.events, stops ? ['stopped'] : []);
    });
  }

  it('[VM-12] ends VMs with folders with the engine, whatever runs in them', async () => {
    const vms = new FakeVms();
    void vms.run([['/a', false]]);
    void vms.run([]);
    await turn();
    await vms.place.dispose();
    assert.deepEqual(
      vms.made.map(({ events }) => events),
      [
        ['disposed', 'stopped', 'released'],
        ['disposed', 'released'],
      ],
    );
  });

  it('ends the oldest VMs with folders that nobody uses, and none that somebody does', async () => {
    const vms = new FakeVms();
    for (const path of ['/a', '/b', '/c', '/d']) {
      const running = vms.run([[path, false]]);
      await turn();
      if (path === '/a') continue;
      vms.made.at(-1)?.ends[0]?.(done);
      await running;
    }
    void vms.run([['/e', false]]);
    await turn();
    assert.deepEqual(
      vms.made.map(({ events }) => events.includes('stopped')),
      [false, true, false, false, false],
    );
  });

  it('[VM-08] refuses what a VM has not, in words, and starts none for it', async () => {
    const vms = new FakeVms();
    const network = { kind: 'none' } as const;
    const refusals = [
      await vms.run([['/bad', false]]),
      await vms.run([], { access: { network, hostFolders: [], projectRoot: '/p' } }),
      await vms.run([], { limits: { ...jobWith({}).limits, memoryMB: 1000 } }),
    ].map(({ outcome }) => (outcome.kind === 'refused' ? [outcome.code, outcome.detail !== ''] : []));
    assert.deepEqual(refusals, [
      ['unsafe-path', true],
      ['isolation-missing', true],
      ['isolation-missing', true],
    ]);
    assert.equal(vms.made.length, 0);
  });

  it('asks a VM without folders what cards find, and starts none with folders to say what it keeps', async () => {
    const vms = new FakeVms();
    const running = vms.run([['/a', false]]);
    await turn();
    const [sharing] = vms.made;
    sharing?.ends[0]?.(done);
    await running;
    await assert.rejects(vms.place.ready(), /not asked here/);
    assert.deepEqual(
      vms.made.map(({ kind }) => kind.shares.length),
      [1, 0],
    );
    const asked = () => vms.made.map(({ events }) => events.filter((event) => event === 'held').length);
    await vms.place.held();
    assert.deepEqual(asked(), [1, 1]);
    for (const vm of vms.made) vm.state = 'closed';
    await vms.place.held();
    assert.deepEqual(asked(), [1, 2]);
  });

  it('[VM-14] shows the sum of its VMs', async () => {
    const vms = new FakeVms();
    assert.deepEqual([vms.place.view().state, vms.place.view().running], ['closed', 0]);
    void vms.run([]);
    void vms.run([]);
    void vms.run([], { project: 'two' });
    await turn();
    assert.equal(vms.place.view().running, 3);
    assert.equal(vms.place.view().id, 'vm');
  });
});

describe('the state of several VMs', () => {
  const table: readonly (readonly [readonly PlaceView[], PlaceView['state'], number])[] = [
    [[], 'closed', 0],
    [[view({ state: 'closed' }), view({ running: 2 })], 'ready', 2],
    [[view({ running: 1 }), view({ state: 'lost', running: 2 })], 'lost', 3],
    [[view({ state: 'lost' }), view({ running: 1 })], 'ready', 1],
    [[view({ state: 'refused', detail: 'no' }), view({ state: 'connecting', running: 1 })], 'connecting', 1],
    [[view({ state: 'closed' }), view({ state: 'refused', detail: 'no' })], 'refused', 0],
  ];
  for (const [views, state, running] of table) {
    it(`[VM-14] is ${state} with ${running} jobs of ${JSON.stringify(views.map((each) => each.state))}`, () => {
      const shown = summarizeVms('vm', views);
      assert.deepEqual([shown.state, shown.running], [state, running]);
      assert.equal(shown.detail, state === 'refused' ? 'no' : '');
    });
  }

  it('keeps what one VM said of itself while another is only being started', () => {
    const facts = {
      ...{ platform: 'linux', node: 'v24', interpreters: [], parallel: 2, freeBytes: 1 },
      isolation: { kind: 'bubblewrap', version: '', checks: [], limits: 'cgroup' },
    } as const;
    const shown = summarizeVms('vm', [
      view({ state: 'connecting' }),
      view({
        state: 'closed',
        facts: { ...facts, interpreters: [], isolation: { ...facts.isolation, checks: [] } },
      }),
    ]);
    assert.deepEqual([shown.state, shown.facts?.parallel], ['connecting', 2]);
  });
});
