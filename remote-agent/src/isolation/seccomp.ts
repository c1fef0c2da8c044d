import { denied, newestSyscall, specials, type Architecture } from './syscalls.ts';

/**
 * Which sockets a card may open. `local`: Unix ones, which reach only the card's own processes. `bridge`: also TCP/IP,
 * where the network namespace holds nothing but the way to the egress proxy. `ip`: TCP/IP alone, because the host's
 * abstract Unix sockets, or sockets in a granted folder, could be reached. `closed`: none at all.
 */
export type SocketProfile = 'local' | 'bridge' | 'ip' | 'closed';

export interface FilterOptions {
  /** Lets a program give up that its own addresses are drawn anew at each start; it has no other way to change how it is run. */
  readonly mayFixAddresses?: boolean;
}

/** One classic BPF instruction: operation, jumps where true and false, operand. */
export interface Instruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly operand: number;
}

/** AF_UNIX */
const unixFamily = 1;

const families: Readonly<Record<SocketProfile, readonly number[]>> = {
  local: [unixFamily],
  bridge: [unixFamily, 2, 10],
  ip: [2, 10],
  closed: [],
};

/** The offsets of linux/seccomp.h's `seccomp_data`; arguments are 64 bits wide and little-endian. */
const offsets = { number: 0, architecture: 4, argument0: 16, argument1: 24, argument2: 32 } as const;

/** linux/audit.h. */
const auditArchitecture: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

const action = {
  kill: 0x80000000,
  allow: 0x7fff0000,
  /** Answers 0 and does nothing. */
  pretend: 0x00050000,
  notPermitted: 0x00050000 + 1,
  notImplemented: 0x00050000 + 38,
  familyNotSupported: 0x00050000 + 97,
} as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. NEWTIME can't be asked of `clone`. */
const newNamespaces = 0x7e020000;

/** ADDR_NO_RANDOMIZE of personality(2), and nothing else. */
const fixedAddresses = 0x0040000;

/** TIOCSTI types into the terminal, TIOCLINUX pastes into it, TIOCSETD loads line disciplines. */
const deniedControls = [0x5412, 0x541c, 0x5423];

/** SOL_SOCKET and its SO_SNDBUF, SO_RCVBUF: a card could have its sockets hold megabytes each, of nobody's memory. */
const socketLevel = 1;
const bufferSizes = [7, 8];

/**
 * The filter of a card as instructions. Everything in `denied` fails with EPERM; `clone3` and every call newer than
 * those known fail with ENOSYS, so that programs take the older way; a wish for larger
 * socket buffers is heard and not granted, since programs take a refusal for a failure; a foreign architecture and x32 are killed.
 */
export function seccompInstructions(
  architecture: Architecture,
  profile: SocketProfile,
  { mayFixAddresses = false }: FilterOptions = {},
): Instruction[] {
  const special = specials[architecture];
  return [
    load(offsets.architecture),
    ...unlessEqual(auditArchitecture[architecture], [give(action.kill)]),
    load(offsets.number),
    ...(architecture === 'x64' ? whenAtLeast(0x40000000, [give(action.kill)]) : []),
    ...whenAtLeast(newestSyscall + 1, [give(action.notImplemented)]),
    ...whenEqual(special.clone3, [give(action.notImplemented)]),
    ...Object.values(denied).flatMap((numbers) => {
      const number = numbers[architecture];
      return number === undefined ? [] : whenEqual(number, [give(action.notPermitted)]);
    }),
    ...whenEqual(special.personality, [
      load(offsets.argument0),
      ...(mayFixAddresses ? whenEqual(fixedAddresses, [give(action.allow)]) : []),
      give(action.notPermitted),
    ]),
    ...whenEqual(special.clone, [
      load(offsets.argument0),
      ...whenAnyBit(newNamespaces, [give(action.notPermitted)]),
      give(action.allow),
    ]),
    ...whenEqual(special.ioctl, [
      load(offsets.argument1),
      ...deniedControls.flatMap((control) => whenEqual(control, [give(action.notPermitted)])),
      give(action.allow),
    ]),
    ...whenEqual(special.setsockopt, [
      load(offsets.argument1),
      ...unlessEqual(socketLevel, [give(action.allow)]),
      load(offsets.argument2),
      ...bufferSizes.flatMap((option) => whenEqual(option, [give(action.pretend)])),
      give(action.allow),
    ]),
    ...whenEqual(special.socket, onlyFamilies(families[profile])),
    ...whenEqual(special.socketpair, onlyPairs(families[profile])),
    give(action.allow),
  ];
}

/** The same as the bytes of `struct sock_filter[]`, for bubblewrap's `--seccomp`. */
export function seccompFilter(
  architecture: Architecture,
  profile: SocketProfile,
  options?: FilterOptions,
): Uint8Array {
  return toBytes(seccompInstructions(architecture, profile, options));
}

/**
 * The filter, as bytes, of a program that gives up its groups and won't go on where it may not, as in a user namespace
 * of one user (user_namespaces(7)): it is told that it has. Its groups open nothing that they did not open before.
 */
export function keptGroupsFilter(architecture: Architecture): Uint8Array {
  return toBytes([
    load(offsets.architecture),
    ...unlessEqual(auditArchitecture[architecture], [give(action.kill)]),
    load(offsets.number),
    ...whenEqual(specials[architecture].setgroups, [give(action.pretend)]),
    give(action.allow),
  ]);
}

function toBytes(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(instructions.length * 8);
  const view = new DataView(bytes.buffer);
  instructions.forEach((instruction, at) => {
    view.setUint16(at * 8, instruction.code, true);
    view.setUint8(at * 8 + 2, instruction.jumpTrue);
    view.setUint8(at * 8 + 3, instruction.jumpFalse);
    view.setUint32(at * 8 + 4, instruction.operand, true);
  });
  return bytes;
}

function onlyFamilies(allowed: readonly number[]): Instruction[] {
  return [
    load(offsets.argument0),
    ...allowed.flatMap((family) => whenEqual(family, [give(action.allow)])),
    give(action.familyNotSupported),
  ];
}

/**
 * A pair of Unix sockets is open already. One for datagrams could still be pointed at any address, so that it would be
 * as good as a socket: it needs the same right. Of the types, SOCK_DGRAM and SOCK_RAW have the second bit; what has
 * connections (SOCK_STREAM, SOCK_SEQPACKET) stays with its peer.
 */
function onlyPairs(allowed: readonly number[]): Instruction[] {
  if (allowed.includes(unixFamily)) return onlyFamilies([unixFamily]);
  return [
    load(offsets.argument1),
    ...whenAnyBit(0b10, [give(action.familyNotSupported)]),
    ...onlyFamilies([unixFamily]),
  ];
}

/** BPF_LD | BPF_W | BPF_ABS */
function load(operand: number): Instruction {
  return { code: 0x20, jumpTrue: 0, jumpFalse: 0, operand };
}

/** BPF_RET | BPF_K */
function give(operand: number): Instruction {
  return { code: 0x06, jumpTrue: 0, jumpFalse: 0, operand };
}

/** BPF_JMP | BPF_JEQ */
function whenEqual(operand: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x15, jumpTrue: 0, jumpFalse: then.length, operand }, ...then];
}

function unlessEqual(operand: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x15, jumpTrue: then.length, jumpFalse: 0, operand }, ...then];
}

/** BPF_JMP | BPF_JGE */
function whenAtLeast(operand: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x35, jumpTrue: 0, jumpFalse: then.length, operand }, ...then];
}

/** BPF_JMP | BPF_JSET */
function whenAnyBit(operand: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x45, jumpTrue: 0, jumpFalse: then.length, operand }, ...then];
}
