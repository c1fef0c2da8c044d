import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxPlace } from '../../../../remote-agent/src/isolation/bubblewrapSandboxes.ts';
import {
  keptGroupsFilter,
  seccompFilter,
  seccompInstructions,
  type FilterOptions,
  type SocketProfile,
} from '../../../../remote-agent/src/isolation/seccomp.ts';
import {
  denied,
  newestSyscall,
  specials,
  type Architecture,
} from '../../../../remote-agent/src/isolation/syscalls.ts';
import { runBare } from '../../../support/bareSandbox.ts';

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 };
const allow = 0x7fff0000;
const kill = 0x80000000;
const pretend = 0x00050000;
const errno = (number: number) => 0x00050000 + number;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [errno(1), errno(38), errno(97)];
const architectures: readonly Architecture[] = ['x64', 'arm64'];
const profiles: readonly SocketProfile[] = ['local', 'bridge', 'ip', 'closed'];

interface Call {
  readonly architecture?: number;
  readonly number: number;
  readonly arguments?: readonly number[];
}

/** Runs classic BPF as the kernel does, over a `seccomp_data` that is made of the call. */
function evaluate(
  architecture: Architecture,
  profile: SocketProfile,
  call: Call,
  options?: FilterOptions,
): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.number, true);
  data.setUint32(4, call.architecture ?? audit[architecture], true);
  (call.arguments ?? []).forEach((value, at) => data.setBigUint64(16 + at * 8, BigInt(value), true));
  const program = seccompInstructions(architecture, profile, options);
  let accumulator = 0;
  for (let at = 0; at < program.length; at++) {
    const { code, jumpTrue, jumpFalse, operand } = program[at]!;
    if (code === 0x20) accumulator = data.getUint32(operand, true);
    else if (code === 0x06) return operand;
    else {
      const holds =
        code === 0x15
          ? accumulator === operand
          : code === 0x35
            ? accumulator >= operand
            : (accumulator & operand) !== 0;
      at += holds ? jumpTrue : jumpFalse;
    }
  }
  throw new Error('The filter ran off its end');
}

describe('the system call filter', () => {
  for (const architecture of architectures) {
    for (const [name, numbers] of Object.entries(denied)) {
      const number = numbers[architecture];
      if (number === undefined) continue;
      it(`[JOB-02] refuses ${name} on ${architecture}`, () => {
        for (const profile of profiles) assert.equal(evaluate(architecture, profile, { number }), EPERM);
      });
    }

    it(`[JOB-02] kills a foreign architecture, and lets none of its numbers through on ${architecture}`, () => {
      for (const foreign of [0x40000003, 0x40000028, audit[architecture === 'x64' ? 'arm64' : 'x64'], 0]) {
        assert.equal(evaluate(architecture, 'local', { architecture: foreign, number: 0 }), kill);
      }
    });

    it(`[JOB-02] sends clone3 and calls that are newer than it the older way on ${architecture}`, () => {
      for (const number of [435, newestSyscall + 1, 467, 1000]) {
        assert.equal(evaluate(architecture, 'local', { number }), ENOSYS);
      }
    });

    it(`[JOB-02] lets threads and processes be made, but no namespace on ${architecture}`, () => {
      const { clone } = specials[architecture];
      const threads = 0x3d0f00;
      assert.equal(evaluate(architecture, 'local', { number: clone, arguments: [threads] }), allow);
      assert.equal(evaluate(architecture, 'local', { number: clone, arguments: [17] }), allow);
      for (let bit = 0; bit < 32; bit++) {
        const flag = 2 ** bit;
        const expected = (flag & 0x7e020000) !== 0 ? EPERM : allow;
        assert.equal(evaluate(architecture, 'local', { number: clone, arguments: [flag] }), expected);
      }
    });

    it(`[JOB-02] keeps a terminal from being typed into on ${architecture}`, () => {
      const { ioctl } = specials[architecture];
      for (const [control, expected] of [
        [0x5412, EPERM],
        [0x541c, EPERM],
        [0x5423, EPERM],
        [0x5401, allow],
        [0x5413, allow],
      ] as const) {
        assert.equal(evaluate(architecture, 'local', { number: ioctl, arguments: [0, control] }), expected);
        // The kernel takes 32 bits of it; what stands above must not hide it.
        const high = { number: ioctl, arguments: [0, control + 2 ** 40] };
        assert.equal(evaluate(architecture, 'local', high), expected);
      }
    });

    it(`[JOB-02] [VM-34] lets no program change how it is run, but for its addresses where that was said on ${architecture}`, () => {
      const { personality } = specials[architecture];
      const ask = (value: number, options?: FilterOptions) =>
        evaluate(architecture, 'local', { number: personality, arguments: [value] }, options);
      const fixed = 0x0040000;
      for (const value of [0, 0xffffffff, fixed, fixed + 0x0400000, fixed + 8, 2 ** 40, fixed + 2 ** 40]) {
        assert.equal(ask(value), EPERM, String(value));
        // The kernel takes 32 bits of it.
        const expected = value % 2 ** 32 === fixed ? allow : EPERM;
        assert.equal(ask(value, { mayFixAddresses: true }), expected, String(value));
      }
    });

    it(`[JOB-02] hears the wish for larger socket buffers and does not grant it on ${architecture}`, () => {
      const { setsockopt } = specials[architecture];
      const ask = (level: number, option: number) =>
        evaluate(architecture, 'bridge', { number: setsockopt, arguments: [3, level, option] });
      assert.deepEqual([ask(1, 7), ask(1, 8)], [pretend, pretend]);
      // SO_REUSEADDR, TCP_NODELAY, and what has the same numbers at another level.
      assert.deepEqual([ask(1, 2), ask(6, 1), ask(6, 7), ask(41, 8)], [allow, allow, allow, allow]);
    });

    const open: Readonly<Record<SocketProfile, readonly number[]>> = {
      local: [1],
      bridge: [1, 2, 10],
      ip: [2, 10],
      closed: [],
    };
    for (const profile of profiles) {
      it(`[JOB-02] opens only the sockets of the profile ${profile} on ${architecture}`, () => {
        const { socket, socketpair } = specials[architecture];
        for (let family = 0; family < 64; family++) {
          const expected = open[profile].includes(family) ? allow : EAFNOSUPPORT;
          assert.equal(evaluate(architecture, profile, { number: socket, arguments: [family] }), expected);
          const pair = family === 1 ? allow : EAFNOSUPPORT;
          const connected = { number: socketpair, arguments: [family, 0x80801] };
          assert.equal(evaluate(architecture, profile, connected), pair);
        }
      });
    }

    it(`[JOB-02] makes no pair that could be pointed at a socket of somebody else on ${architecture}`, () => {
      const { socketpair } = specials[architecture];
      for (const profile of profiles) {
        for (const [type, isConnected] of [
          [1, true],
          [5, true],
          [2, false],
          [3, false],
        ] as const) {
          const expected = isConnected || open[profile].includes(1) ? allow : EAFNOSUPPORT;
          for (const flags of [0, 0x800, 0x80000, 0x80800]) {
            const call = { number: socketpair, arguments: [1, type + flags] };
            assert.equal(evaluate(architecture, profile, call), expected, `${profile} ${type}`);
          }
        }
      }
    });

    it(`[JOB-02] lets everything else through on ${architecture}`, () => {
      const special = new Set<number>(Object.values(specials[architecture]));
      const refused = new Set(Object.values(denied).map((numbers) => numbers[architecture]));
      for (let number = 0; number <= newestSyscall; number++) {
        if (special.has(number) || refused.has(number)) continue;
        assert.equal(evaluate(architecture, 'local', { number }), allow, String(number));
      }
    });
  }

  it('[JOB-02] kills x32 calls', () => {
    assert.equal(evaluate('x64', 'local', { number: 0x40000000 }), kill);
    assert.equal(evaluate('x64', 'local', { number: 0xffffffff }), kill);
  });

  it('is laid out as the kernel reads it', () => {
    const bytes = seccompFilter('x64', 'local');
    assert.equal(bytes.length % 8, 0);
    assert.deepEqual(
      [...bytes.subarray(0, 16)],
      [0x20, 0, 0, 0, 4, 0, 0, 0, 0x15, 0, 1, 0, 0x3e, 0, 0, 0xc0],
    );
    assert.ok(bytes.length / 8 < 4096);
  });
});

/** Tries a system call with arguments that do nothing, and prints its name and how it failed. */
const tryCalls = (calls: Readonly<Record<string, readonly number[]>>) => `
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
result = {}
for name, words in json.loads('${JSON.stringify(calls)}').items():
    ctypes.set_errno(0)
    value = libc.syscall(*[ctypes.c_long(word) for word in words])
    result[name] = errno.errorcode.get(ctypes.get_errno(), "done") if value < 0 else "done"
    if name.startswith("clone") and value == 0: libc._exit(0)
print(json.dumps(result))
`;

const here: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64';

describe('the system call filter in a real sandbox', () => {
  before(function () {
    if (process.platform === 'linux') return;
    console.log('      needs Linux');
    this.skip();
  });

  const number = (name: string) => denied[name]![here]!;
  const special = specials[here];
  const calls: Readonly<Record<string, readonly number[]>> = {
    // Arguments that the kernel itself refuses with another error than the filter's, or that do nothing.
    ptrace: [number('ptrace'), 0xbad, 0, 0, 0],
    process_vm_readv: [number('process_vm_readv'), 1, 0, 0, 0, 0, 0],
    keyctl: [number('keyctl'), 0, -3, 0],
    add_key: [number('add_key'), 0, 0, 0, 0, 0],
    io_uring_setup: [number('io_uring_setup'), 0, 0],
    memfd_create: [number('memfd_create'), 0, 0],
    shmget: [number('shmget'), 0, 0, 0],
    msgget: [number('msgget'), 0, 0o1600],
    unshare: [number('unshare'), 0],
    setns: [number('setns'), -1, 0],
    fsopen: [number('fsopen'), 0, 0],
    name_to_handle_at: [number('name_to_handle_at'), -1, 0, 0, 0, 0],
    personality: [special.personality, 0xffffffff],
    ioctl_tiocsti: [special.ioctl, 0, 0x5412, 0],
    clone3: [435, 0, 0],
    socket_inet: [special.socket, 2, 1, 0],
    socket_inet6: [special.socket, 10, 1, 0],
    socket_netlink: [special.socket, 16, 3, 0],
    socket_vsock: [special.socket, 40, 1, 0],
    socketpair_inet: [special.socketpair, 2, 1, 0, 0],
    newer: [467, -1, 0, 0, 0, 0],
  };
  const words = ['/usr/bin/python3', '-I', '-c', tryCalls(calls)] as const;
  const parse = (output: string) => JSON.parse(output) as Record<string, string>;

  it('[JOB-02] refuses what reaches outside, and the same calls answer otherwise without it', async () => {
    const filtered = parse((await runBare([...words])).output);
    const control = parse(
      (await runBare([...words], {}, (place) => ({ ...place, filters: undefined }))).output,
    );
    for (const name of Object.keys(calls)) {
      const expected =
        name === 'clone3' || name === 'newer' ? 'ENOSYS' : /^socket/.test(name) ? 'EAFNOSUPPORT' : 'EPERM';
      assert.equal(filtered[name], expected, name);
    }
    for (const name of [
      'ptrace',
      'memfd_create',
      'unshare',
      'shmget',
      'msgget',
      'personality',
      'io_uring_setup',
    ]) {
      assert.notEqual(control[name], filtered[name], `${name} is refused without the filter too`);
    }
    for (const name of ['socket_inet', 'socket_netlink']) assert.equal(control[name], 'done', name);
  });

  it('[JOB-02] lets programs, threads and pipes of processes work', async () => {
    const text = `
import subprocess, threading, asyncio, multiprocessing, socket
made = []
thread = threading.Thread(target=lambda: made.append("thread")); thread.start(); thread.join()
made.append(subprocess.run(["/bin/echo", "process"], capture_output=True, text=True).stdout.strip())
made.append(asyncio.run(asyncio.sleep(0, "loop")))
context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
child = context.Process(target=queue.put, args=("queue",)); child.start(); made.append(queue.get()); child.join()
left, right = socket.socketpair(); left.send(b"pair"); made.append(right.recv(9).decode())
print(*made)
`;
    const { output, errors } = await runBare(['/usr/bin/python3', '-I', '-c', text]);
    assert.equal(output, 'thread process loop queue pair\n', errors);
  });

  it('tells a program that gives up its groups that it has, and refuses it nothing else', async () => {
    const architecture = process.arch as Architecture;
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-filter-'));
    try {
      const file = join(folder, 'groups.bpf');
      writeFileSync(file, keptGroupsFilter(architecture));
      const call = `import os
def tried(call):
    try: call(); return "done"
    except OSError as error: return error.strerror
print(tried(lambda: os.setgroups([])), tried(lambda: os.setgid(0)), tried(lambda: os.getpid()))`;
      const run = async (filters: SandboxPlace['filters']) =>
        (await runBare(['/usr/bin/python3', '-I', '-c', call], {}, (place) => ({ ...place, filters })))
          .output;
      const control = await run(undefined);
      assert.match(control, /^Operation not permitted /);
      const filtered = await run({ local: file, bridge: file, ip: file, closed: file });
      assert.equal(filtered, control.replace('Operation not permitted', 'done'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
