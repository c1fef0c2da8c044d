import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgentsVault } from '../../extension/src/vault/core/agentsVault.ts';
import { Keyring } from '../../extension/src/vault/core/keyring.ts';
import { openSlot } from '../../extension/src/vault/core/keySlots.ts';
import { createPersonalVault } from '../../extension/src/vault/core/personalVault.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';
import { parseHeader, type VaultHeader } from '../../extension/src/vault/core/vaultHeader.ts';
import { loginDraft, quickDerivation } from './vaultHarness.ts';

/** The device key of every fixture, and the password of the personal ones. */
export const fixtureKey = () => Secret.own(Buffer.alloc(32, 0x2a));
export const fixturePassword = () => Secret.fromText('correct horse battery staple');

/** A vault's files, with what opening it must give. */
export interface FixtureCase {
  readonly files: Readonly<Record<string, Buffer>>;
  readonly expected: Readonly<Record<string, unknown>>;
}

type Edit = (text: string) => string;

const malformed = { state: 'unreadable', code: 'malformed' };
const altered = { state: 'tampered', what: 'header-altered' };
const downgraded = { state: 'tampered', what: 'downgraded' };

/** Changes of the header's text: each breaks one thing. */
const headerCases: Readonly<Record<string, readonly [Edit, object]>> = {
  'header-crlf': [(text) => text.replace('\n', '\r\n'), malformed],
  'header-no-newline': [(text) => text.trimEnd(), malformed],
  'header-trailing-space': [(text) => text.replace('\n', ' \n'), malformed],
  'header-two-lines': [(text) => text + text, malformed],
  'header-byte-order-mark': [(text) => `\uFEFF${text}`, malformed],
  'header-key-order': [(text) => text.replace(/("version":1),("cipher":"[^"]*")/, '$2,$1'), malformed],
  'header-key-twice': [(text) => text.replace('"version":1', '"version":1,"version":1'), malformed],
  'header-key-unknown': [(text) => text.replace('"version":1', '"version":1,"x":1'), malformed],
  'header-key-prototype': [(text) => text.replace('"version":1', '"version":1,"__proto__":{}'), malformed],
  'header-key-case': [(text) => text.replace('"cipher"', '"Cipher"'), downgraded],
  'header-escape': [(text) => text.replace('"agents"', '"\\u0061gents"'), malformed],
  'header-format-other': [(text) => text.replace('sallyport-vault', 'sallyport-vaulu'), malformed],
  'header-cut': [(text) => text.slice(0, -200), malformed],
  'version-0': [(text) => text.replace('"version":1', '"version":0'), downgraded],
  'version-missing': [(text) => text.replace('"version":1,', ''), downgraded],
  'version-text': [(text) => text.replace('"version":1', '"version":"1"'), downgraded],
  'version-2': [(text) => text.replace('"version":1', '"version":2'), { state: 'unsupported', version: 2 }],
  'cipher-other': [(text) => text.replace('aes-256-gcm', 'aes-128-gcm'), downgraded],
  'cipher-case': [(text) => text.replace('aes-256-gcm', 'AES-256-GCM'), downgraded],
  'kind-other': [(text) => text.replace('"kind":"agents"', '"kind":"shared"'), malformed],
  'kind-backup': [(text) => text.replace('"kind":"agents"', '"kind":"agents-backup"'), malformed],
  'id-upper-case': [
    (text) => text.replace(/"id":"[^"]*"/, (id) => id.toUpperCase().replace('ID', 'id')),
    malformed,
  ],
  'id-short': [(text) => text.replace(/"id":"../, '"id":"'), malformed],
  'id-other': [(text) => text.replace(/"id":"../, '"id":"00'), altered],
  'counter-leading-zero': [(text) => text.replace('"counter":3', '"counter":03'), malformed],
  'counter-negative': [(text) => text.replace('"counter":3', '"counter":-3'), malformed],
  'counter-exponent': [(text) => text.replace('"counter":3', '"counter":3e0'), malformed],
  'counter-overflow': [(text) => text.replace('"counter":3', '"counter":9007199254740993'), malformed],
  'counter-other': [(text) => text.replace('"counter":3', '"counter":4'), altered],
  'log-other': [(text) => text.replace('"log":1', '"log":2'), altered],
  'digest-short': [(text) => text.replace(/"digest":"../, '"digest":"'), malformed],
  'digest-other': [(text) => text.replace(/("digest":")(..)/, '$100'), altered],
  'salt-short': [(text) => text.replace(/"salt":"....([^"]*)"/, '"salt":"$1"'), malformed],
  'salt-url-alphabet': [(text) => text.replace(/("salt":"[^"]*?)[+/]/, '$1_'), malformed],
  'salt-no-padding': [(text) => text.replace(/("salt":"[^"=]*)=+"/, '$1"'), malformed],
  'slot-missing': [(text) => text.replace(/,\{"type":"recovery"[^}]*\}/, ''), malformed],
  'slot-twice': [(text) => text.replace(/(\{"type":"device"[^}]*\})/, '$1,$1'), malformed],
  'slot-order': [(text) => text.replace(/(\{"type":"device"[^}]*\}),(\{[^}]*\})/, '$2,$1'), malformed],
  'slot-type-unknown': [(text) => text.replace('"type":"device"', '"type":"plain"'), malformed],
  'public-key-low-order': [
    (text) => text.replace(/"publicKey":"[^"]*"/, `"publicKey":"${Buffer.alloc(32).toString('base64')}"`),
    altered,
  ],
  'mac-missing': [(text) => text.replace(/,"mac":"[^"]*"/, ''), malformed],
  'mac-short': [(text) => text.replace(/"mac":"../, '"mac":"'), malformed],
  'mac-other': [(text) => text.replace(/("mac":")../, '$100'), altered],
  'mac-upper-case': [
    (text) => text.replace(/"mac":"[^"]*"/, (mac) => `"mac":"${mac.slice(7, -1).toUpperCase()}"`),
    malformed,
  ],
  'signature-missing': [(text) => text.replace(/,"signature":"[^"]*"/, ''), malformed],
  'signature-other': [(text) => text.replace(/("signature":")../, '$100'), altered],
};

/** Changes of the log's bytes under the header as it is. */
const logCases: Readonly<Record<string, readonly [(log: Buffer) => Buffer, object]>> = {
  'log-empty': [() => Buffer.alloc(0), { state: 'tampered', what: 'truncated' }],
  'log-last-byte-missing': [(log) => log.subarray(0, -1), { state: 'tampered', what: 'truncated' }],
  'log-trailing-bytes': [
    (log) => Buffer.concat([log, Buffer.from('rest')]),
    { state: 'open', items: ['one', 'two'] },
  ],
  'log-trailing-frame': [(log) => Buffer.concat([log, log]), { state: 'open', items: ['one', 'two'] }],
  'log-magic': [(log) => flip(log, 0), { state: 'tampered', what: 'index-altered' }],
  'log-sequence': [(log) => flip(log, 7), { state: 'tampered', what: 'row-removed' }],
  'log-index-length': [(log) => flip(log, 11), { state: 'tampered', what: 'index-altered' }],
  'log-index-iv': [(log) => flip(log, 16), { state: 'tampered', what: 'index-altered' }],
  'log-row-mac': [
    (log) => flip(log, log.length - 1),
    { state: 'tampered', what: 'row-altered', item: 'two' },
  ],
  'log-row-value': [
    (log) => flip(log, log.length - 40),
    { state: 'tampered', what: 'row-altered', item: 'two' },
  ],
};

/** What the owner of the key could have written wrongly: signed and authenticated, and still refused. */
const signedCases: Readonly<Record<string, readonly [(header: VaultHeader) => VaultHeader, object]>> = {
  'signed-fewer-frames': [
    ({ head, ...rest }) => ({ ...rest, head: { ...head, frames: head.frames - 1 } }),
    { state: 'tampered', what: 'row-rolled-back' },
  ],
  'signed-more-frames': [
    ({ head, ...rest }) => ({ ...rest, head: { ...head, frames: head.frames + 1 } }),
    { state: 'tampered', what: 'truncated' },
  ],
  'signed-fewer-bytes': [
    ({ head, ...rest }) => ({ ...rest, head: { ...head, bytes: head.bytes - 1 } }),
    { state: 'tampered', what: 'row-rolled-back' },
  ],
  'signed-other-digest': [
    ({ head, ...rest }) => ({ ...rest, head: { ...head, digest: Buffer.alloc(32) } }),
    { state: 'tampered', what: 'row-rolled-back' },
  ],
};

/** Costs of a personal vault's password, written in its header. */
const costCases: Readonly<Record<string, string>> = {
  'scrypt-n-zero': '{"N":0,"r":8,"p":1}',
  'scrypt-n-low': '{"N":65536,"r":8,"p":1}',
  'scrypt-n-odd': '{"N":131073,"r":8,"p":1}',
  'scrypt-n-high': '{"N":2097152,"r":8,"p":1}',
  'scrypt-n-negative': '{"N":-131072,"r":8,"p":1}',
  'scrypt-n-fraction': '{"N":131072.5,"r":8,"p":1}',
  'scrypt-r-zero': '{"N":131072,"r":0,"p":1}',
  'scrypt-p-zero': '{"N":131072,"r":8,"p":0}',
  'scrypt-p-high': '{"N":131072,"r":8,"p":5}',
};
const malformedCosts: Readonly<Record<string, string>> = {
  'scrypt-n-text': '{"N":"131072","r":8,"p":1}',
  'scrypt-n-missing': '{"r":8,"p":1}',
  'scrypt-n-exponent': '{"N":1.31072e5,"r":8,"p":1}',
  'scrypt-order': '{"r":8,"N":131072,"p":1}',
};

/** Every fixture, made anew: the same bytes each time. With the Secret Key of the personal ones. */
export async function makeFixtures(): Promise<{
  readonly cases: ReadonlyMap<string, FixtureCase>;
  readonly secretKey: string;
}> {
  const agents = await agentsFiles();
  const { files: personal, secretKey } = await personalFiles();
  const header = agents['vault.json'] ?? Buffer.alloc(0);
  const log = agents['rows-1'] ?? Buffer.alloc(0);
  const cases = new Map<string, FixtureCase>();
  cases.set('good', { files: agents, expected: { state: 'open', items: ['one', 'two'] } });
  cases.set('good-personal', { files: personal, expected: { state: 'open', items: ['one'] } });
  for (const [name, [edit, expected]] of Object.entries(headerCases))
    cases.set(name, {
      files: { ...agents, 'vault.json': Buffer.from(edit(header.toString())) },
      expected: { ...expected },
    });
  for (const [name, [edit, expected]] of Object.entries(logCases))
    cases.set(name, { files: { ...agents, 'rows-1': edit(log) }, expected: { ...expected } });
  for (const [name, [edit, expected]] of Object.entries(signedCases))
    cases.set(name, {
      files: { ...agents, 'vault.json': await signedAgain(header, edit) },
      expected: { ...expected },
    });
  cases.set('log-missing', {
    files: { 'vault.json': header },
    expected: { state: 'tampered', what: 'truncated' },
  });
  cases.set('header-missing', { files: { 'rows-1': log }, expected: altered });
  for (const [costs, expected] of [
    [costCases, downgraded],
    [malformedCosts, malformed],
  ] as const)
    for (const [name, cost] of Object.entries(costs)) {
      const text = (personal['vault.json'] ?? '').toString().replace('{"N":131072,"r":8,"p":1}', cost);
      cases.set(name, { files: { ...personal, 'vault.json': Buffer.from(text) }, expected });
    }
  return { cases, secretKey };
}

async function agentsFiles(): Promise<Record<string, Buffer>> {
  return inFolder(async (folder) => {
    const { vault } = await createAgentsVault(place(folder, 'agents'), fixtureKey());
    await vault.save(loginDraft('one', 'value of one'));
    await vault.save(loginDraft('two', 'value of two'));
  });
}

async function personalFiles(): Promise<{ files: Record<string, Buffer>; secretKey: string }> {
  let secretKey = '';
  const files = await inFolder(async (folder) => {
    const made = await createPersonalVault(place(folder, 'personal'), fixturePassword());
    secretKey = made.secretKey;
    await made.vault.save(loginDraft('one', 'value of one'));
  });
  return { files, secretKey };
}

function place(folder: string, seed: string) {
  return {
    folder,
    counters: null,
    now: () => Date.UTC(2026, 0, 1),
    random: repeatable(seed),
    derive: quickDerivation,
  };
}

/** Bytes that look random and are the same each time: for fixtures alone. */
function repeatable(seed: string): (length: number) => Uint8Array {
  let drawn = 0;
  return (length) => {
    const pieces: Buffer[] = [];
    for (let at = 0; at < length; at += 32)
      pieces.push(createHash('sha256').update(`${seed} ${drawn++}`).digest());
    return Buffer.concat(pieces).subarray(0, length);
  };
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<Record<string, Buffer>> {
  const root = mkdtempSync(join(tmpdir(), 'sallyport-fixtures-'));
  try {
    const folder = join(root, 'vault');
    await work(folder);
    return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  } finally {
    rmSync(root, { recursive: true });
  }
}

async function signedAgain(text: Buffer, edit: (header: VaultHeader) => VaultHeader): Promise<Buffer> {
  const parsed = parseHeader(text);
  if (!('header' in parsed)) throw new Error('no header');
  const { header } = parsed;
  const [slot] = header.slots;
  const owner = { vaultId: header.id, kind: header.kind };
  const key =
    slot && (await openSlot(owner, slot, { type: 'device', deviceKey: fixtureKey() }, quickDerivation));
  if (!key) throw new Error('no key');
  return Buffer.from(new Keyring(header.id, key).sealHeader(edit(header)));
}

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
