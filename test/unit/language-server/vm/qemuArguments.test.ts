import assert from 'node:assert/strict';
import { qemuArguments, type Accelerator } from '../../../../language-server/src/runners/vm/qemuArguments.ts';
import { sealedQemu } from '../../../../language-server/src/runners/vm/sealedQemu.ts';
import { guestFixedAddresses } from '../../../../protocol/src/vmGuest.ts';

const files = {
  kernel: '/image/kernel',
  initrd: '/image/initrd',
  root: '/image/root.ext4',
  disk: 'disk.qcow2',
  diskFormat: 'qcow2',
  control: 'control',
  bulk: 'bulk',
  monitor: 'monitor',
  terminal: 'terminal',
  console: 'console.log',
  shares: [],
} as const;

describe('the argument list of a VM', () => {
  const shape = { accelerator: 'tcg', memoryMB: 1024, processors: 2, network: false, shares: [] } as const;

  it('[VM-02] has no network device, no shared folder, and a root that is not written', () => {
    const args = qemuArguments(shape, files, { kind: 'boot' });
    assert.equal(args[args.indexOf('-nic') + 1], 'none');
    assert.ok(args.includes('-nodefaults'));
    const text = args.join(' ');
    assert.match(text, /id=root,file=\/image\/root\.ext4,format=raw,if=none,readonly=on/);
    assert.doesNotMatch(text, /netdev|virtfs|fsdev|vhost|memfd|share|usb|vnc|hostfwd/);
    assert.match(text, /-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny/);
  });

  it('[VM-02] has a network only where it was asked for, and QEMU then too', () => {
    const args = qemuArguments({ ...shape, network: true }, files, { kind: 'boot' }).join(' ');
    assert.match(args, /-netdev user,id=net -device virtio-net-device,netdev=net/);
    const around = {
      program: 'qemu',
      args: [],
      image: '/i',
      machine: '/m',
      links: [],
      accelerator: 'tcg',
      endsWithEngine: false,
    } as const;
    assert.ok(sealedQemu({ ...around, network: true }).includes('--share-net'));
    assert.ok(!sealedQemu({ ...around, network: false }).includes('--share-net'));
  });

  it('[VM-10] has a device for each shared folder, memory that its server can read, and tells the guest how', () => {
    const args = qemuArguments(
      { ...shape, shares: ['ro', 'rw'] },
      { ...files, shares: ['share0', 'share1'] },
      { kind: 'boot' },
    );
    const text = args.join(' ');
    assert.match(text, /-M microvm,accel=tcg,pit=on,memory-backend=ram /);
    assert.match(text, /-object memory-backend-memfd,id=ram,size=1024M,share=on/);
    assert.match(
      text,
      /-chardev socket,id=share1,path=share1 -device vhost-user-fs-device,chardev=share1,tag=sallyport-share1/,
    );
    assert.match(args[args.indexOf('-append') + 1] ?? '', / sallyport\.shares=ro,rw$/);
  });

  it('tells the kernel the clock’s speed only where instructions are translated', () => {
    const tcg = qemuArguments(shape, files, { kind: 'boot' }).join(' ');
    const kvm = qemuArguments({ ...shape, accelerator: 'kvm' }, files, { kind: 'boot' }).join(' ');
    assert.match(tcg, /accel=tcg,pit=on .*tsc_early_khz=2600000 lpj/);
    const told = qemuArguments({ ...shape, clockKHz: 3_100_000 }, files, { kind: 'boot' }).join(' ');
    assert.match(told, /tsc_early_khz=3100000 tsc=nowatchdog lpj/);
    assert.match(kvm, /accel=kvm -cpu host/);
    assert.doesNotMatch(kvm, /tsc_early_khz|mitigations=off/);
  });

  it('leaves out of a translated processor what only costs there, and nothing that a guest defends itself with', () => {
    const processor = (accelerator: Accelerator) => {
      const args = qemuArguments({ ...shape, accelerator }, files, { kind: 'boot' });
      return args[args.indexOf('-cpu') + 1];
    };
    assert.equal(processor('tcg'), 'max,erms=off,la57=off');
    assert.equal(processor('kvm'), 'host');
  });

  it('[VM-34] tells the guest to keep addresses only where instructions are translated', () => {
    const wordsOf = (accelerator: Accelerator) => {
      const args = qemuArguments({ ...shape, accelerator }, files, { kind: 'boot' });
      return (args[args.indexOf('-append') + 1] ?? '').split(' ');
    };
    assert.ok(wordsOf('tcg').includes(guestFixedAddresses));
    assert.ok(!wordsOf('kvm').includes(guestFixedAddresses));
  });

  it('starts from a stored VM by a descriptor that is already open', () => {
    const args = qemuArguments(shape, files, { kind: 'stored', descriptor: 3 });
    assert.equal(args[args.indexOf('-incoming') + 1], 'fd:3');
  });

  it('a comma in a path does not end it', () => {
    const args = qemuArguments(shape, { ...files, disk: 'a,readonly=on.qcow2' }, { kind: 'boot' });
    assert.ok(args.some((each) => each.includes('file=a,,readonly=on.qcow2,format=qcow2')));
  });

  it('[VM-02] runs QEMU in a sandbox of its own, with the device of KVM only where it is used', () => {
    const around = {
      program: 'qemu',
      args: ['-M', 'x'],
      image: '/i',
      machine: '/m',
      links: [],
      network: false,
      endsWithEngine: false,
    } as const;
    const tcg = sealedQemu({ ...around, accelerator: 'tcg' });
    assert.ok(tcg.includes('--unshare-all'));
    assert.match(tcg.join(' '), /--ro-bind \/i \/image --bind \/m \/machine/);
    assert.doesNotMatch(tcg.join(' '), /dev-bind|--share-net|die-with-parent/);
    assert.ok(
      sealedQemu({ ...around, accelerator: 'tcg', endsWithEngine: true }).includes('--die-with-parent'),
    );
    assert.match(sealedQemu({ ...around, accelerator: 'kvm' }).join(' '), /--dev-bind \/dev\/kvm \/dev\/kvm/);
  });
});
