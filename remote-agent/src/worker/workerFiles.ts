import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  timingSafeEqual,
  randomBytes,
} from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../../../protocol/src/errors.ts';
import { changeAlone } from './changeAlone.ts';
import { folderNameOf, parseIdentity, type Identity } from './identity.ts';
import type { IdentitySigner } from './leaf.ts';
import { WorkerLog } from './workerLog.ts';

/** An identity that may use the worker. */
export interface Member {
  readonly identity: Identity;
  readonly name: string;
}

const invites = z.array(
  z.strictObject({ hash: z.string().check(z.regex(/^[a-f0-9]{64}$/)), expiresAt: z.number() }),
);

/** How long a one-time code is good for. */
const inviteMs = 60 * 60 * 1000;

/**
 * What a worker keeps: its identity, who may use it (`authorized_keys`), the codes that wait, and its log. Every file
 * is read anew each time and counts only where it is this user's own and closed to everybody else. Changes by several
 * processes (the worker and its keeper's commands) come one after the other.
 */
export class WorkerFiles {
  readonly path: string;
  readonly log: WorkerLog;
  readonly #uid: number;

  /** Makes the folder where it is missing. */
  constructor(path: string, uid: number) {
    this.path = path;
    this.#uid = uid;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.log = new WorkerLog(path);
  }

  /** The worker's own identity, made where there is none. */
  signer(): IdentitySigner {
    return openIdentityFile(join(this.path, 'identity'), this.#uid);
  }

  /** The folder that a member's runner serves. */
  homeOf(fingerprint: string): string {
    return join(this.path, 'members', folderNameOf(fingerprint));
  }

  /** Throws `unsafe-path` where the list can't be trusted: then nobody is let in. */
  members(): Member[] {
    const text = this.#read('authorized_keys');
    return (text ?? '').split('\n').flatMap((line) => {
      const [, key = '', name = ''] = /^ed25519 ([A-Za-z0-9+/=]{1,200}) (.{1,200})$/.exec(line) ?? [];
      const identity = parseIdentity(Buffer.from(key, 'base64'));
      return identity ? [{ identity, name }] : [];
    });
  }

  /** Lets an identity in under a name; once. */
  add(identity: Identity, name: string): void {
    changeAlone(this.path, () => {
      const others = this.members().filter((member) => member.identity.fingerprint !== identity.fingerprint);
      this.#writeMembers([...others, { identity, name }]);
    });
    this.log.act({ event: 'enrolled', fingerprint: identity.fingerprint, name });
  }

  /** Refuses the identity from its next handshake on. False where it was not in the list. */
  remove(fingerprint: string): boolean {
    const isRemoved = changeAlone(this.path, () => {
      const members = this.members();
      const kept = members.filter(({ identity }) => identity.fingerprint !== fingerprint);
      if (kept.length < members.length) this.#writeMembers(kept);
      return kept.length < members.length;
    });
    if (!isRemoved) return false;
    this.log.act({ event: 'removed', fingerprint });
    return true;
  }

  /** A one-time code for an hour. Only its hash is kept. */
  invite(now: number): string {
    const secret = randomBytes(32).toString('base64url');
    changeAlone(this.path, () => {
      const waiting = this.#invites().filter(({ expiresAt }) => expiresAt > now);
      this.#writeInvites([...waiting, { hash: hashOf(secret), expiresAt: now + inviteMs }]);
    });
    this.log.act({ event: 'invited' });
    return secret;
  }

  /** Takes a code: true at most once for each. Of 256 bits each, they need no defence against guessing. */
  redeem(secret: string, now: number): boolean {
    const offered = Buffer.from(hashOf(secret), 'hex');
    return changeAlone(this.path, () => {
      const waiting = this.#invites().filter(({ expiresAt }) => expiresAt > now);
      const kept = waiting.filter(({ hash }) => !timingSafeEqual(Buffer.from(hash, 'hex'), offered));
      if (kept.length < waiting.length) this.#writeInvites(kept);
      return kept.length < waiting.length;
    });
  }

  #invites(): z.infer<typeof invites> {
    try {
      const parsed = z.safeParse(invites, JSON.parse(this.#read('invites.json') ?? '[]'));
      return parsed.success ? parsed.data : [];
    } catch (error) {
      if (error instanceof UserError) throw error;
      return [];
    }
  }

  #writeInvites(waiting: z.infer<typeof invites>): void {
    this.#write('invites.json', JSON.stringify(waiting));
  }

  #writeMembers(members: readonly Member[]): void {
    const lines = members.map(
      ({ identity, name }) => `ed25519 ${identity.spki.toString('base64')} ${name}\n`,
    );
    this.#write('authorized_keys', lines.join(''));
  }

  #read(name: string): string | undefined {
    return readOwnFile(join(this.path, name), this.#uid);
  }

  #write(name: string, text: string): void {
    writeOwnFile(join(this.path, name), text);
  }
}

/** An Ed25519 identity whose private key is a file of this user alone; made where there is none, once. */
export function openIdentityFile(path: string, uid: number): IdentitySigner {
  if (!existsSync(path))
    changeAlone(dirname(path), () => {
      if (existsSync(path)) return;
      const { privateKey } = generateKeyPairSync('ed25519');
      writeOwnFile(path, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
    });
  const key = createPrivateKey(readOwnFile(path, uid) ?? '');
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return { spki, sign: (bytes) => sign(null, bytes, key) };
}

/**
 * The text of a file that is this user's, of mode 0600 and no link; undefined where there is none. Throws `unsafe-path`
 * for any other: whoever else can write it decides who gets in.
 */
export function readOwnFile(path: string, uid: number): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw new UserError(
      'unsafe-path',
      `${path} can’t be read as a file of its own`,
      { path },
      { cause: error },
    );
  }
  try {
    const found = fstatSync(file);
    const isOwn = found.isFile() && (uid < 0 || found.uid === uid) && (found.mode & 0o777) === 0o600;
    if (!isOwn) {
      throw new UserError('unsafe-path', `${path} is another user’s or open to others`, {
        path,
        remedy: `chown it to the worker’s user and chmod 600 ${path}`,
      });
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Writes a file of mode 0600, in place of the one before in one step. */
export function writeOwnFile(path: string, text: string): void {
  const part = `${path}.${process.pid}.part`;
  rmSync(part, { force: true });
  const file = openSync(part, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, path);
}

function hashOf(secret: string): string {
  return createHash('sha256').update(`sallyport worker code ${secret}`).digest('hex');
}
