import { Buffer } from 'node:buffer';
import { sha256 } from './digests.ts';
import type { Randomness } from './randomness.ts';
import { Secret } from './secret.ts';

/**
 * A key for paper: `SP1`, six characters that tell keys apart and are no secret, 26 that hold 128 random bits, and four
 * that catch slips of the pen, of 31 characters without look-alikes (no 0, 1, I, O, U).
 */
export interface SecretKey {
  readonly keyId: string;
  /** The 26 characters in ASCII. The caller wipes it. */
  readonly secret: Secret;
}

/** Fresh, as text. */
export function createSecretKey(random: Pick<Randomness, 'draw'>): string {
  const characters = draw(random, idLength + secretLength);
  return toText(characters.slice(0, idLength), characters.slice(idLength));
}

/** Reads what a person typed or pasted: lower case, spaces and other dashes are fine. Undefined where it is none. */
export function parseSecretKey(text: string): SecretKey | undefined {
  const plain = text.toUpperCase().replace(/[\s\u2010-\u2015-]/gu, '');
  if (plain.length !== prefix.length + idLength + secretLength + checkLength || !plain.startsWith(prefix))
    return undefined;
  const keyId = plain.slice(prefix.length, prefix.length + idLength);
  const secret = plain.slice(prefix.length + idLength, -checkLength);
  if (!inAlphabet.test(keyId + secret)) return undefined;
  if (checkOf(keyId, secret) !== plain.slice(-checkLength)) return undefined;
  return { keyId, secret: Secret.fromText(secret) };
}

/** True where a text is a Secret Key with this id. */
export function isSecretKeyOf(text: string, keyId: string): boolean {
  const parsed = parseSecretKey(text);
  parsed?.secret.wipe();
  return parsed?.keyId === keyId;
}

/** What is printed and put away: which key it is, what it opens, and what it does not. Plain text, one page. */
export function secretKeyKit(options: {
  readonly secretKey: string;
  readonly use: 'personal' | 'recovery';
  readonly vaultId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly words: KitWords;
}): string {
  const { secretKey, use, vaultId, at, words } = options;
  const title = use === 'personal' ? words.personalTitle : words.recoveryTitle;
  const body = use === 'personal' ? words.personalBody : words.recoveryBody;
  return [
    title,
    '='.repeat(title.length),
    '',
    `    ${secretKey}`,
    '',
    ...body,
    '',
    `${words.vault}  ${vaultId}`,
    `${words.made}  ${new Date(at).toISOString().slice(0, 10)}`,
    ...(use === 'personal' ? ['', `${words.password}  ${'_'.repeat(40)}`] : []),
    '',
  ].join('\n');
}

/** The kit's words, which the messages bring in the person's language. */
export interface KitWords {
  readonly personalTitle: string;
  readonly personalBody: readonly string[];
  readonly recoveryTitle: string;
  readonly recoveryBody: readonly string[];
  readonly vault: string;
  readonly made: string;
  readonly password: string;
}

const prefix = 'SP1';
const alphabet = '23456789ABCDEFGHJKLMNPQRSTVWXYZ';
const inAlphabet = /^[2-9A-HJ-NP-TV-Z]+$/;
const idLength = 6;
const secretLength = 26;
const checkLength = 4;

function toText(keyId: string, secret: string): string {
  const groups = (secret + checkOf(keyId, secret)).match(/.{1,5}/g) ?? [];
  return [prefix, keyId, ...groups].join('-');
}

/** Each character is drawn without bias: a byte beyond the largest multiple of the alphabet's length is thrown away. */
function draw(random: Pick<Randomness, 'draw'>, length: number): string {
  const limit = 256 - (256 % alphabet.length);
  let characters = '';
  while (characters.length < length) {
    const bytes = random.draw(2 * length);
    for (const byte of bytes)
      if (byte < limit && characters.length < length) characters += alphabet.charAt(byte % alphabet.length);
    bytes.fill(0);
  }
  return characters;
}

function checkOf(keyId: string, secret: string): string {
  const bytes = Buffer.from(keyId + secret, 'latin1');
  const digest = sha256(Buffer.from('sallyport secret key'), bytes);
  bytes.fill(0);
  let value = digest.readUInt32BE();
  let check = '';
  for (let place = 0; place < checkLength; place++) {
    check += alphabet.charAt(value % alphabet.length);
    value = Math.floor(value / alphabet.length);
  }
  return check;
}
