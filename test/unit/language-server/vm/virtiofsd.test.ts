import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import {
  sealedVirtiofsd,
  virtiofsdPrograms,
  virtiofsdArguments,
  virtiofsdStyle,
} from '../../../../language-server/src/runners/vm/virtiofsd.ts';

/** Bytes of programs with the lines of their help that tell them apart. */
const programs = {
  c: Buffer.from(
    '\x7fELF\0    -o source=PATH             shared directory tree\n    --fd=FDNUM    fd number\n',
  ),
  rust: Buffer.from('\x7fELF\0shared-dir <SHARED_DIR> --socket-path <SOCKET_PATH> [OPTIONS]\n'),
} as const;

describe('the server of a shared folder', () => {
  it('is told from its own words, and a stranger is not taken for one', () => {
    assert.equal(virtiofsdStyle(programs.c), 'c');
    assert.equal(virtiofsdStyle(programs.rust), 'rust');
    for (const other of ['', 'usage: ls [OPTION]', '-o source=PATH'])
      assert.equal(virtiofsdStyle(Buffer.from(other)), undefined);
    const here = virtiofsdPrograms.filter((path) => existsSync(path));
    for (const path of here) assert.ok(virtiofsdStyle(readFileSync(path)), path);
  });

  it('gets the socket as its standard input, and the folder by the one path that it sees', () => {
    const rust = virtiofsdArguments('rust').join(' ');
    assert.match(rust, /^--fd 0 --shared-dir \/share --sandbox none /);
    const c = virtiofsdArguments('c').join(' ');
    assert.match(c, /^--fd=0 -o source=\/share -o sandbox=chroot /);
    // A file that the person changes is seen at the next opening.
    assert.match(c, /-o cache=auto -o timeout=0/);
    for (const each of [rust, c]) assert.doesNotMatch(each, /writeback|xattr|allow-root|allow_root/);
  });

  const around = { folder: 3, filter: 4, links: [['/lib', 'usr/lib']] } as const;
  const sealed = (style: 'c' | 'rust', write: boolean) =>
    sealedVirtiofsd({ ...around, write, virtiofsd: { program: '/usr/libexec/virtiofsd', style } });

  it('[VM-10] sees the folder alone, which the kernel keeps from being written unless that was asked', () => {
    for (const style of ['c', 'rust'] as const) {
      const text = sealed(style, false).join(' ');
      assert.match(text, /--unshare-all --die-with-parent --new-session --clearenv/);
      assert.match(text, / --ro-bind-fd 3 \/share --remount-ro \/ --seccomp 4 -- \/usr\/libexec\/virtiofsd /);
      assert.deepEqual(text.match(/--(ro-)?bind\S* \S+ \S+/g), [
        '--ro-bind /usr /usr',
        '--ro-bind-fd 3 /share',
      ]);
      assert.match(sealed(style, true).join(' '), / --bind-fd 3 \/share /);
      assert.doesNotMatch(text, /--share-net/);
    }
  });

  it('[VM-10] holds no right but those without which the one in C ends', () => {
    const rights = (style: 'c' | 'rust') => {
      const args = sealed(style, true);
      assert.equal(args[args.indexOf('--cap-drop') + 1], 'ALL');
      return args.filter((_, at) => args[at - 1] === '--cap-add');
    };
    assert.deepEqual(rights('rust'), []);
    assert.ok(!rights('c').some((name) => /SYS_ADMIN|NET|PTRACE|MODULE|RAWIO/.test(name)));
  });
});
