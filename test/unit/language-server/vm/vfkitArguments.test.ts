import assert from 'node:assert/strict';
import { sealedVfkit } from '../../../../language-server/src/runners/vm/sealedVfkit.ts';
import {
  vfkitArguments,
  type VfkitFiles,
} from '../../../../language-server/src/runners/vm/vfkitArguments.ts';
import { findVfkit } from '../../../../language-server/src/runners/vm/vfkitMachine.ts';
import type { VmShape } from '../../../../language-server/src/runners/vm/qemuArguments.ts';

const shape: VmShape = { accelerator: 'vz', memoryMB: 2048, processors: 2, network: false, shares: [] };
const files: VfkitFiles = {
  kernel: '/image of mine/kernel',
  initrd: '/image of mine/initrd',
  root: '/m/root.ext4',
  disk: '/m/disk.ext4',
  ports: { control: '/s/control', bulk: '/s/bulk', terminal: '/s/terminal' },
  orders: '/s/orders',
  console: '/m/console.log',
  shares: [],
};

describe('the argument list of a VM on a Mac', () => {
  it('[VM-31] is a machine with what is named here and nothing else', () => {
    assert.deepEqual(vfkitArguments(shape, files), [
      ...['--cpus', '2', '--memory', '2048', '--log-level', 'error'],
      ...['--restful-uri', 'unix:///s/orders'],
      '--bootloader',
      'linux,kernel=/image of mine/kernel,initrd=/image of mine/initrd,cmdline="console=hvc0 quiet panic=-1 rdinit=/init random.trust_cpu=on sallyport.ports=vsock"',
      ...['--device', 'virtio-blk,path=/m/root.ext4'],
      ...['--device', 'virtio-blk,path=/m/disk.ext4'],
      ...['--device', 'virtio-serial,logFilePath=/m/console.log'],
      ...['--device', 'virtio-rng'],
      ...['--device', 'virtio-vsock,port=7001,socketURL=/s/control,connect'],
      ...['--device', 'virtio-vsock,port=7002,socketURL=/s/bulk,connect'],
      ...['--device', 'virtio-vsock,port=7003,socketURL=/s/terminal,connect'],
    ]);
  });

  it('[VM-31] shows folders that may be written, and tells the guest of them', () => {
    const shared = { ...shape, shares: ['rw', 'rw'] as const };
    const text = vfkitArguments(shared, { ...files, shares: ['/a b', '/c'] }).join(' ');
    assert.match(text, /sallyport\.shares=rw,rw"/);
    assert.match(
      text,
      /virtio-fs,sharedDir=\/a b,mountTag=sallyport-share0 --device virtio-fs,sharedDir=\/c,mountTag=sallyport-share1$/,
    );
  });

  const refused: readonly (readonly [what: string, shape: Partial<VmShape>])[] = [
    ['a network', { network: true }],
    ['a folder that must not be written', { shares: ['rw', 'ro'] }],
  ];
  for (const [what, more] of refused)
    it(`[VM-32] refuses ${what}, in words`, () => {
      assert.throws(
        () => vfkitArguments({ ...shape, ...more }, files),
        (error: Error & { code?: string }) =>
          error.code === 'isolation-missing' && /on a Mac/.test(error.message),
      );
    });

  for (const bad of ['/a,b', '/a"b', '/a\nb'])
    it(`refuses the path ${JSON.stringify(bad)}, which would become options`, () => {
      for (const name of ['kernel', 'initrd', 'root', 'disk', 'orders', 'console'] as const)
        assert.throws(() => vfkitArguments(shape, { ...files, [name]: bad }), { code: 'unsafe-path' }, name);
      assert.throws(() => vfkitArguments(shape, { ...files, ports: { ...files.ports, bulk: bad } }), {
        code: 'unsafe-path',
      });
      assert.throws(() => vfkitArguments({ ...shape, shares: ['rw'] }, { ...files, shares: [bad] }), {
        code: 'unsafe-path',
      });
    });

  it('[VM-31] is started in a sandbox that denies all but the image, its own folders and one service', () => {
    const words = sealedVfkit({
      program: '/opt/homebrew/bin/vfkit',
      args: ['--cpus', '1'],
      image: '/i',
      own: ['/m', '/s "q"'],
      shares: ['/share'],
    });
    assert.deepEqual(
      [words[0], words[1], ...words.slice(3)],
      ['/usr/bin/sandbox-exec', '-p', '/opt/homebrew/bin/vfkit', '--cpus', '1'],
    );
    const [, , profile = ''] = words;
    assert.match(profile, /^\(version 1\)\n\(deny default\)\n/);
    assert.match(profile, /\(allow file-read\* \(subpath "\/i"\)\)/);
    assert.doesNotMatch(profile, /file-write\* \(subpath "\/i"\)/);
    for (const path of ['"/m"', '"/s \\"q\\""', '"/share"'])
      assert.ok(profile.includes(`(allow file-write* (subpath ${path}))`), path);
    assert.doesNotMatch(profile, /remote ip|system-socket|network\*/);
    assert.deepEqual(profile.match(/mach-lookup.*/g), [
      'mach-lookup (xpc-service-name "com.apple.Virtualization.VirtualMachine"))',
    ]);
    const count = (sign: string) => profile.split(sign).length;
    assert.equal(count('('), count(')'));
  });

  it('finds vfkit where people install it, and says where it is not', () => {
    assert.equal(
      findVfkit((path) => path === '/usr/local/bin/vfkit'),
      '/usr/local/bin/vfkit',
    );
    assert.equal(
      findVfkit(() => false),
      undefined,
    );
  });
});
