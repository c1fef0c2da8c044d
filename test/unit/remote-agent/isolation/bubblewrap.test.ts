import path from 'node:path';
import { sandboxArguments, type SandboxSpec } from '../../../../remote-agent/src/isolation/bubblewrap.ts';
import { assertGolden } from '../../../support/golden.ts';
import assert from 'node:assert/strict';

const plain: SandboxSpec = {
  network: 'own',
  system: [
    { kind: 'link', path: '/bin', to: 'usr/bin' },
    { kind: 'bind', path: '/lib64' },
  ],
  binds: [
    { descriptor: 8, target: '/card', write: false },
    { descriptor: 9, target: '/host/data', write: true },
  ],
  links: { '/node_modules': '/sallyport/node' },
  memoryFolders: { '/tmp': 1024, '/out': 4096 },
  environment: { PATH: '/usr/bin', GREETING: 'two words' },
  workingFolder: '/home/card',
  seccompDescriptor: 7,
  statusDescriptor: 6,
  command: ['/bin/sh', '-s'],
};

describe('the arguments of bubblewrap', () => {
  it('[JOB-01] are these for a card', () => {
    const lines = sandboxArguments(plain).join('\n');
    assertGolden(path.join(import.meta.dirname, 'bubblewrap.golden.txt'), `${lines}\n`);
  });

  it('[PSH-01] cover what is not to be seen after the binds that show it, and for good', () => {
    const words = sandboxArguments({
      ...plain,
      masks: [
        { target: '/host/data/.git', kind: 'directory' },
        { target: '/host/data/.npmrc', kind: 'file' },
      ],
    }).join(' ');
    const masks =
      '--size 4096 --tmpfs /host/data/.git --remount-ro /host/data/.git --ro-bind /dev/null /host/data/.npmrc';
    assert.ok(words.indexOf(masks) > words.indexOf('--bind-fd 9 /host/data'), words);
    assert.ok(words.indexOf(masks) > 0);
  });

  const always = [
    ['--unshare-user'],
    ['--unshare-pid'],
    ['--unshare-ipc'],
    ['--unshare-uts'],
    ['--unshare-cgroup'],
    ['--disable-userns'],
    ['--cap-drop', 'ALL'],
    ['--die-with-parent'],
    ['--new-session'],
    ['--clearenv'],
    ['--remount-ro', '/'],
    ['--remount-ro', '/dev'],
  ];
  for (const words of always) {
    it(`[JOB-01] hold ${words.join(' ')} whatever the network`, () => {
      for (const network of ['own', 'host'] as const) {
        const all = sandboxArguments({ ...plain, network });
        const at = all.findIndex((_, index) => words.every((word, offset) => all[index + offset] === word));
        assert.ok(at >= 0 && at < all.indexOf('--'));
      }
    });
  }

  it('[JOB-01] share the network only for a card with the whole of it', () => {
    assert.ok(sandboxArguments(plain).includes('--unshare-net'));
    assert.ok(!sandboxArguments({ ...plain, network: 'host' }).includes('--unshare-net'));
  });

  it('[JOB-01] give every folder in memory a size', () => {
    const words = sandboxArguments(plain);
    words.forEach((word, at) => {
      if (word === '--tmpfs') assert.deepEqual([words[at - 2], Number(words[at - 1]) > 0], ['--size', true]);
    });
  });

  it('[JOB-01] make the root read-only after everything was put into it', () => {
    const words = sandboxArguments(plain);
    const last = words.lastIndexOf('--remount-ro');
    for (const option of ['--ro-bind', '--bind-fd', '--ro-bind-fd', '--tmpfs', '--symlink']) {
      assert.ok(words.lastIndexOf(option) < last, option);
    }
  });
});
