import { generateKeyPairSync, sign } from 'node:crypto';
import { UserError } from '../../../../protocol/src/errors.ts';
import { guestPerson } from '../../../../protocol/src/vmGuest.ts';
import type { PlaceRunner } from '../places/placeRunner.ts';
import type { HostKeyChecks } from '../ssh/hostKeys.ts';
import { SshConnection } from '../ssh/sshConnection.ts';
import type { SshTarget } from '../ssh/sshConfig.ts';
import { unattended, type SshSigner } from '../ssh/sshPerson.ts';

/** Which VM of a project a terminal is in. */
export interface TerminalVm {
  readonly project: string;
  /** True for the one of its cards that were given a network. */
  readonly network: boolean;
}

/**
 * Opens an SSH connection into a project's VM, over the VM's own port: with a key that was made for it, is known to that
 * one server and never leaves this process, and to the one host key that the VM told over its control port. Throws as
 * starting the VM does, `host-key`, `sign-in`, `unreachable`, `cancelled`.
 */
export async function openTerminalConnection(
  place: PlaceRunner,
  { project, network }: TerminalVm,
  signal: AbortSignal,
): Promise<SshConnection> {
  const { raw, signer } = createSessionKey();
  if (!place.openTerminal) throw new UserError('not-found', 'This place has no terminal');
  const { hostKey, stream } = await place.openTerminal(raw.toString('base64'), {
    ...{ project, signal },
    access: { network: { kind: network ? 'all' : 'none' }, hostFolders: [] },
  });
  try {
    return await SshConnection.open({
      target,
      through: stream,
      hostKeys: onlyHostKey(Buffer.from(hostKey, 'base64')),
      person: unattended({ ...nobody, vaultKeys: () => Promise.resolve([signer]) }),
      signal,
      connectMs,
      keepaliveMs,
    });
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

/** Trusts exactly this Ed25519 key (32 bytes), which no list of known hosts and no person can add to. */
export function onlyHostKey(raw: Buffer): Pick<HostKeyChecks, 'algorithms' | 'check'> {
  const known = toWire(raw);
  return {
    algorithms: () => [keyType],
    check: (_, key) =>
      Promise.resolve(
        key.equals(known)
          ? undefined
          : new UserError('host-key', 'What answers at the VM’s terminal is not what the VM said', {
              remedy: 'Close the window and open it again: the VM is started anew then.',
            }),
      ),
  };
}

/** A key of one connection; `raw` is its public half. */
export function createSessionKey(): { readonly raw: Buffer; readonly signer: SshSigner } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    raw,
    signer: {
      name: 'the key of this terminal',
      publicKey: toWire(raw),
      sign: (data) => Promise.resolve(sign(null, data, privateKey)),
    },
  };
}

const keyType = 'ssh-ed25519';
const connectMs = 60_000;
const keepaliveMs = 15_000;

/** Nothing of the person's SSH configuration counts here: no agent, no key file, no list of hosts. */
const target: SshTarget = {
  host: 'the VM',
  port: 22,
  user: guestPerson.name,
  identityFiles: [],
  identitiesOnly: true,
  agent: undefined,
  knownHostsFiles: [],
};

const nobody = {
  confirmHostKey: () => Promise.resolve(false),
  showChangedHostKey: () => Promise.resolve(),
  askSecret: () => Promise.resolve(null),
};

/** RFC 8709, 4. */
function toWire(raw: Buffer): Buffer {
  const parts = [Buffer.from(keyType), raw];
  return Buffer.concat(parts.flatMap((part) => [length(part.length), part]));
}

function length(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
