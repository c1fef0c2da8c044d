import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  actSentence,
  pageWords,
  presenceNotices,
  presenceWords,
  refusalText,
  settingQuestion,
} from '../../../extension/src/presence/presenceMessages.ts';
import type { Refusal } from '../../../extension/src/presence/passkeyAnswer.ts';
import type { PresenceAct } from '../../../extension/src/presence/presenceAct.ts';
import { fieldKinds, itemKinds } from '../../../extension/src/vault/core/items.ts';
import { ImportError } from '../../../extension/src/vault/core/importers/imported.ts';
import {
  VaultError,
  type Tampering,
  type VaultErrorCode,
} from '../../../extension/src/vault/core/vaultState.ts';
import type { VaultStatus } from '../../../extension/src/vault/life/vaultLife.ts';
import {
  grantSentence,
  grantWords,
  limitsWord,
  refusalWord,
} from '../../../extension/src/vault/ui/grantWords.ts';
import { fetchWords, sshWords } from '../../../extension/src/vault/releaseWords.ts';
import { keyValueWords } from '../../../extension/src/vault/ui/keyValueWords.ts';
import { pluginWords } from '../../../extension/src/vault/ui/pluginWords.ts';
import { vaultNotices } from '../../../extension/src/vault/ui/vaultNotices.ts';
import { wishWords } from '../../../extension/src/vault/ui/wishWords.ts';
import {
  editWords,
  fieldKindWord,
  importProblem,
  importWords,
  itemKindWord,
  lifeWords,
  revealWords,
  runWords,
  statusExplanation,
  statusWord,
  vaultName,
  vaultProblem,
  vaultWords,
} from '../../../extension/src/vault/ui/vaultWords.ts';
import { assertGolden } from '../../support/golden.ts';

type Words = Readonly<Record<string, unknown>>;

/** What a text is given: foreign texts try to turn, to hide and to be an icon. */
const foreign = 'Da\u202Eta $(x)';
const samples: readonly unknown[] = [foreign, 3, 5, 7];

/** Every text of a group, functions called with `samples`; groups within are gone through. */
function render(name: string, words: Words): string[] {
  return Object.entries(words).flatMap(([key, value]) => {
    if (typeof value === 'object' && value !== null) return render(`${name}.${key}`, value as Words);
    const given = own[`${name}.${key}`] ?? samples;
    const text: unknown = (value as (...args: unknown[]) => unknown)(...given);
    return [`${name}.${key}: ${typeof text === 'string' ? text : JSON.stringify(text)}`];
  });
}

const act: PresenceAct = {
  name: 'reveal',
  vault: 'agents',
  itemId: 'db',
  title: foreign,
  field: 'password',
  version: 3,
};
const acts: PresenceAct[] = [
  act,
  { name: 'export', vault: 'personal', items: ['a 1'], path: '/a' },
  { name: 'export', vault: 'personal', items: ['a 1', 'b 2'], path: '/a' },
  { name: 'approveGrant', grantId: 'g', digest: 'd', sentence: foreign },
  { name: 'changeSetting', setting: 'sallyport.x', from: 'false', to: 'true' },
  { name: 'restore', path: '/a', digest: 'd', why: 'stale' },
  { name: 'restore', path: '/a', digest: 'd', why: 'foreign' },
  { name: 'addPasskey', label: foreign },
  { name: 'removePasskey', passkeyId: 'p', label: foreign },
  { name: 'setPassword' },
  { name: 'removePassword' },
];
const refusals: Record<Refusal, 0> = {
  malformed: 0,
  'unknown-passkey': 0,
  'other-page': 0,
  'inside-another-page': 0,
  'other-challenge': 0,
  'user-not-verified': 0,
  'counter-went-back': 0,
  'not-signed-by-it': 0,
  late: 0,
};
const tamperings: Record<Tampering, 0> = {
  'header-altered': 0,
  downgraded: 0,
  truncated: 0,
  'row-removed': 0,
  'row-swapped': 0,
  'row-rolled-back': 0,
  'row-foreign': 0,
  'row-altered': 0,
  'index-altered': 0,
};
const statuses: VaultStatus[] = [
  { state: 'unknown' },
  { state: 'locked' },
  { state: 'absent' },
  { state: 'keyring-silent' },
  { state: 'not-kept' },
  { state: 'device-key-lost' },
  ...Object.keys(tamperings).map((what) => ({ state: 'tampered', what: what as Tampering }) as const),
  { state: 'rolled-back', counter: 3, known: 9 },
  { state: 'counter-unavailable' },
  { state: 'other-vault' },
  { state: 'unsupported', version: 2 },
  { state: 'unreadable', code: 'EACCES' },
];
const codes: Record<VaultErrorCode, 0> = {
  locked: 0,
  'no-such-item': 0,
  'no-such-field': 0,
  'no-such-version': 0,
  'no-such-grant': 0,
  'changed-elsewhere': 0,
  'bad-item': 0,
  'bad-key': 0,
  'no-private-key': 0,
  'not-granted': 0,
  'already-answered': 0,
  'too-many-asks': 0,
  'wrong-password': 0,
  'weak-password': 0,
  exists: 0,
  tampered: 0,
  'rolled-back': 0,
  busy: 0,
  'disk-full': 0,
  'not-written': 0,
  'random-repeats': 0,
};
const problems = ['id', 'title', 'kind', 'field', 'field-twice', 'fields', 'value', 'host', 'tag', 'expiry'];
const limits = { count: 2, until: null };
const use = { kind: 'env', name: 'DB_PASSWORD' } as const;

const wish = {
  app: 'notes',
  appName: foreign,
  plugin: 'search',
  item: 'example-notes',
  field: 'token',
  use: { kind: 'basic', hosts: ['api.example.org'], user: 'me' },
} as const;

/** Arguments of those that take none of a person's or a program's texts: words of ours, numbers, days. */
const own: Readonly<Record<string, readonly unknown[]>> = {
  'plugin.title': [foreign, foreign],
  'plugin.plugin': [foreign, foreign],
  'wish.title': [wish],
  'wish.value': [foreign, foreign],
  'wish.now': [foreign, foreign],
  'wish.called': [wish],
  'wish.how': [wish],
  'wish.review': [wish.use],
  'wish.reviewHow': [wish],
  'wish.noneGiven': [wish],
  'wish.waits': [wish],
  'ssh.noGrant': [foreign, 'ssh:lab'],
  'ssh.refused': [foreign, 'locked'],
  'vault.items': [1],
  'vault.waits': [2],
  'vault.sentTo': [['a.example.org', foreign]],
  'vault.savedAt': [3, '2027-01-01 10:00:00'],
  'edit.kindDetail': ['token'],
  'edit.saveNote': [2],
  'edit.keepGrantsQuestion': [2],
  'edit.formTitle': [foreign, true],
  'reveal.hides': [20],
  'reveal.lines': [4],
  'life.wait': [4000],
  'life.kitShown': ['personal'],
  'life.kitDetail': ['recovery', 'SP1-…'],
  'life.kitFile': ['recovery'],
  'life.backupMade': ['agents', '2027-01-01', 3],
  'import.question': ['.env', 2, ['no. 3: no value']],
  'import.skipped': [3, 'kind'],
  'import.more': [4],
  'run.sentence': ['make', ['A (x · y)', foreign]],
  'run.ended': [0],
  'grant.title': [2],
  'grant.waiting': [2],
  'grant.used': [1],
  'grant.how': [{ use }],
  'grant.asWished': [limits],
  'notice.imported': [2, 1],
  'notice.exported': [2, foreign],
  'presence.waitingInBrowser': [act],
  'presence.passwordProblem': ['short'],
  'presence.wait': [4000],
  'presence.passkeyDefault': [1],
  'presenceNotice.refused': ['late'],
  'presenceNotice.settingChanged': ['sallyport.x', foreign],
  'presence.passkeyAdded': ['2027-01-01 10:00:00'],
  'vault.expires': ['2027-01-01'],
  'vault.expired': ['2027-01-01'],
  'grant.revokeQuestion': ['The card x uses …'],
  'notice.vaultCreated': ['Agents’ vault'],
  'notice.opened': ['Agents’ vault'],
  'notice.backupProblem': ['It has version 2.'],
  'notice.restored': ['Agents’ vault', 3],
  'notice.failed': ['The vault is locked.'],
  'notice.granted': ['The card x uses …'],
  'vault.spokenVault': ['Agents’ vault', 'locked'],
  'reveal.title': ['password', foreign],
  'notice.notOpen': ['Agents’ vault', 'locked'],
  'grant.what': ['password', foreign],
  'edit.removeQuestion': [foreign, 2],
};

describe('The texts of the vault and of presence', () => {
  it('are these', () => {
    const lines = [
      ...acts.map((each) => `act ${each.name}: ${actSentence(each)}`),
      `page: ${JSON.stringify(pageWords(act))}`,
      `page: ${JSON.stringify(pageWords({ name: 'addPasskey', label: 'x' }))}`,
      ...Object.keys(refusals).map((each) => `refused ${each}: ${refusalText(each as Refusal)}`),
      `setting: ${JSON.stringify(settingQuestion('sallyport.x', foreign))}`,
      ...render('presence', presenceWords),
      ...render('presenceNotice', presenceNotices),
      ...(['agents', 'personal'] as const).map(vaultName),
      ...itemKinds.map((kind) => `item ${kind}: ${itemKindWord(kind)}`),
      ...fieldKinds.map((kind) => `field ${kind}: ${fieldKindWord(kind)}`),
      ...statuses.map(
        (status) => `${status.state}: ${statusWord(status) ?? ''}. ${statusExplanation(status)}`,
      ),
      ...Object.keys(codes)
        .filter((code) => code !== 'bad-item')
        .map((code) => `failed ${code}: ${vaultProblem(new VaultError(code as VaultErrorCode))}`),
      ...problems.map(
        (problem) =>
          `bad-item ${problem}: ${vaultProblem(new VaultError('bad-item', { problem, name: foreign }))}`,
      ),
      ...(['encrypted', 'malformed', 'unknown-columns', 'too-large'] as const).map(
        (code) => `import ${code}: ${importProblem(new ImportError(code, 3), foreign)}`,
      ),
      ...render('vault', vaultWords),
      ...render('edit', editWords),
      ...render('reveal', revealWords),
      ...render('life', lifeWords),
      ...render('import', importWords),
      ...render('run', runWords),
      ...render('grant', grantWords),
      `grant: ${grantSentence({ principal: 'card:x', field: 'password', item: 'db', use }, foreign)}`,
      `grant: ${grantSentence({ principal: 'place:ssh:lab', field: 'private-key', item: 'lab', use: { kind: 'sshSignature' } }, foreign)}`,
      `grant: ${grantSentence({ principal: 'plugin:notes/search', field: 'token', item: 'api', use }, foreign)}`,
      `grant: ${grantSentence({ principal: 'connection:c', field: 'token', item: 'api', use }, foreign)}`,
      ...render('plugin', { ...pluginWords, use: {}, useDetail: {} }),
      ...(['bearer', 'header', 'basic', 'query'] as const).map(
        (kind) => `plugin use ${kind}: ${pluginWords.use(kind)}: ${pluginWords.useDetail(kind)}`,
      ),
      ...render('wish', { ...wishWords, state: {} }),
      ...(['waiting', 'given', 'ended', 'none'] as const).map(
        (each) => `wish ${each}: ${wishWords.state(each)}`,
      ),
      ...render('fetch', { ...fetchWords, remedy: {} }),
      ...(['grant', 'host', 'unlock', 'value', 'vault'] as const).map(
        (each) => `fetch remedy ${each}: ${fetchWords.remedy(each)}`,
      ),
      ...render('key value', keyValueWords),
      ...render('ssh', sshWords),
      `limits: ${limitsWord({ count: 1, until: null })}; ${limitsWord(limits)}`,
      ...(
        [
          'pending',
          'declined',
          'revoked',
          'expired',
          'used-up',
          'item-removed',
          'item-changed',
          'unknown',
        ] as const
      ).map((each) => `grant ${each}: ${refusalWord(each)}`),
      ...render('notice', vaultNotices),
    ];
    assert.deepEqual(
      lines.filter((line) => /undefined|\[object|\u202E|\$\(/.test(line)),
      [],
    );
    assertGolden(join(import.meta.dirname, 'goldens/vaultMessages.txt'), `${lines.join('\n')}\n`);
  });
});
