import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readEnvironment } from '../../../../remote-agent/src/environment.ts';
import { closeInheritedDescriptors } from '../../../../remote-agent/src/inheritedDescriptors.ts';
import { createPlace } from '../../../../remote-agent/src/isolation/place.ts';
import { probeBubblewrap } from '../../../../remote-agent/src/isolation/probe.ts';
import { evidence } from '../../../../remote-agent/src/isolation/evidence.ts';
import { judgeProbe } from '../../../../remote-agent/src/isolation/probeScript.ts';
import { explainStart, type KernelFacts } from '../../../../remote-agent/src/isolation/remedies.ts';
import type { SandboxPlace } from '../../../../remote-agent/src/isolation/bubblewrapSandboxes.ts';
import type { Probed } from '../../../../remote-agent/src/isolation/isolation.ts';
import { createRunnerFolder, rootScratch } from '../../../../remote-agent/src/runnerFolder.ts';

const isRoot = process.getuid?.() === 0;

describe('the isolation probe', () => {
  let scratch = '';

  before(() => void closeInheritedDescriptors());

  beforeEach(function () {
    if (process.platform !== 'linux') {
      console.log('      needs Linux');
      this.skip();
    }
    scratch = mkdtempSync(path.join(isRoot ? rootScratch : tmpdir(), 'sallyport-probe-'));
    if (isRoot) chmodSync(scratch, 0o711);
  });
  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  async function probe(
    options: { program?: string; change?: (place: SandboxPlace) => SandboxPlace } = {},
  ): Promise<Probed> {
    const environment = readEnvironment();
    const own = mkdtempSync(path.join(scratch, 'runner-'));
    if (isRoot) chmodSync(own, 0o711);
    const folder = createRunnerFolder({ scratch: own, pid: process.pid, passable: isRoot });
    const place = createPlace({
      environment,
      folder,
      helpers: {},
      ...(options.program !== undefined && { program: options.program }),
    });
    return probeBubblewrap({
      place: options.change ? options.change(place) : place,
      folder: folder.nextJobFolder(),
      hasFile: environment.hasFile,
    });
  }

  function program(text: string, mode = 0o755): string {
    const file = path.join(scratch, 'bwrap');
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, mode);
    return file;
  }

  const failed = ({ report }: Probed) => report.checks.filter((check) => !check.ok).map((check) => check.id);

  it('[JOB-03] finds that a card is sealed here, by every check', async () => {
    const probed = await probe();
    assert.deepEqual(failed(probed), []);
    assert.equal(probed.report.kind, 'bubblewrap');
    assert.equal(probed.report.checks.length, 7);
    assert.ok(probed.isolation);
    const [program, ...rest] = probed.report.checks.map(({ detail }) => detail);
    assert.match(program ?? '', /^\/usr\/bin\/bwrap, version [0-9.]+$/);
    for (const detail of rest) assert.ok(Object.values<string>(evidence).includes(detail), detail);
  });

  const broken: Readonly<Record<string, string>> = {
    'that fails':
      'test "$1" = --version && echo bubblewrap 0.9.0 && exit; echo "bwrap: No permissions to create new namespace" >&2; exit 1',
    'that is silent': 'test "$1" = --version && echo bubblewrap 0.9.0; exit 0',
    'that runs the command bare': 'test "$1" = --version && echo bubblewrap 0.9.0 && exit; exec /bin/sh -s',
    'that does not run': 'exit 3',
    'that is too old':
      'test "$1" = --version && echo bubblewrap 0.3.0 && exit; echo "bwrap: Unknown option --disable-userns" >&2; exit 1',
  };
  for (const [name, text] of Object.entries(broken)) {
    it(`[JOB-03] finds no isolation in a bubblewrap ${name}`, async () => {
      const probed = await probe({ program: program(text) });
      assert.equal(probed.isolation, undefined);
      assert.equal(probed.report.kind, 'none');
      const check = probed.report.checks.find((each) => !each.ok);
      assert.ok(check?.remedy, JSON.stringify(probed.report));
    });
  }

  it('[JOB-03] names the package where bubblewrap is missing', async () => {
    const probed = await probe({ program: path.join(scratch, 'nothing') });
    assert.deepEqual(failed(probed), ['program']);
    assert.match(probed.report.checks[0]?.remedy ?? '', /apt install bubblewrap/);
  });

  it('[JOB-03] refuses a bubblewrap that is set-user-ID, or that others can change', async () => {
    for (const mode of [0o4755, 0o2755, 0o757]) {
      const probed = await probe({ program: program('echo bubblewrap 0.9.0', mode) });
      assert.deepEqual(failed(probed), ['program'], mode.toString(8));
    }
  });

  it('[JOB-03] notices by itself what a sandbox leaves open', async () => {
    const weakened: Readonly<Record<string, (place: SandboxPlace) => SandboxPlace>> = {
      privileges: (place) => ({ ...place, filters: undefined }),
      files: (place) => ({
        ...place,
        mounts: { ...place.mounts, none: [{ path: scratch, target: '/etc', write: true }] },
      }),
    };
    chmodSync(scratch, 0o777);
    for (const [id, change] of Object.entries(weakened)) {
      const probed = await probe({ change });
      assert.ok(failed(probed).includes(id), `${id}: ${JSON.stringify(probed.report)}`);
      assert.equal(probed.isolation, undefined);
    }
  });
});

describe('what the probe makes of its findings', () => {
  const good = [
    'files scratch written',
    'descriptors 0 1 2 3',
    'privileges CapEff 0000000000000000',
    'privileges CapBnd 0000000000000000',
    'privileges NoNewPrivs 1',
    'privileges Seccomp 2',
    'namespaces unshare refused',
    'namespaces processes own',
    'network interfaces lo',
    'network sockets none',
  ];
  const failing = (lines: readonly string[]) =>
    judgeProbe(lines.join('\n'))
      .filter((check) => !check.ok)
      .map((check) => check.id);

  it('[JOB-03] is a yes only where every line is there', () => {
    assert.deepEqual(failing(good), []);
    for (const line of good) {
      assert.deepEqual(failing(good.filter((each) => each !== line)), [line.split(' ')[0]]);
    }
    assert.equal(failing([]).length, 5);
  });

  it('[JOB-03] says in sentences what a passing check saw, and as it was found what a failing one did', () => {
    const [files, descriptors] = judgeProbe([...good, 'descriptors 0 1 2 3 7'].join('\n'));
    assert.equal(files?.detail, evidence.files);
    assert.equal(descriptors?.detail, '0 1 2 3, 0 1 2 3 7');
    for (const text of Object.values(evidence)) assert.match(text, /^[A-Z][^0-9_=]*[a-z][^_=]*\.$/, text);
  });

  for (const line of [
    'files wrote /usr/',
    'descriptors 0 1 2 3 7',
    'privileges CapEff 0000000000000400',
    'network interfaces lo eth0',
    'network sockets 2',
  ]) {
    it(`[JOB-03] is a no where it says ${line}`, () =>
      assert.deepEqual(failing([...good, line]), [line.split(' ')[0]]));
  }
});

describe('what a person is told to do', () => {
  const fine: KernelFacts = {
    appArmorRestriction: '0',
    unprivilegedClone: '1',
    maximumUserNamespaces: '15000',
    isContainer: false,
  };
  const denied = 'bwrap: setting up uid map: Permission denied';
  const rows: readonly (readonly [string, string, Partial<KernelFacts>, RegExp])[] = [
    ['an old bubblewrap', 'bwrap: Unknown option --bind-fd', {}, /Update bubblewrap/],
    [
      'Ubuntu’s AppArmor',
      denied,
      { appArmorRestriction: '1' },
      /apparmor\.d\/bwrap.*userns,.*apparmor_parser -r/,
    ],
    ['Debian’s older switch', denied, { unprivilegedClone: '0' }, /unprivileged_userns_clone=1/],
    ['no user namespaces', denied, { maximumUserNamespaces: '0' }, /max_user_namespaces=15000/],
    ['a container', 'bwrap: No permissions', { isContainer: true }, /security-opt seccomp=unconfined/],
    ['anything else', denied, {}, /doctor/],
  ];
  for (const [name, said, facts, remedy] of rows) {
    it(`[JOB-03] fits ${name}`, () => assert.match(explainStart(said, { ...fine, ...facts }), remedy));
  }
});
