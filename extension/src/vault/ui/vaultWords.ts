import { l10n } from 'vscode';
import type { DraftProblem } from '../core/itemDrafts.ts';
import type { FieldKind, ItemKind } from '../core/items.ts';
import type { ImportError, SkipReason } from '../core/importers/imported.ts';
import type { VaultError, VaultKind, Tampering } from '../core/vaultState.ts';
import { duration } from '../../figures.ts';
import { plain } from '../../plainText.ts';
import type { VaultStatus } from '../life/vaultLife.ts';

/** Words of the vault's tree, lists and boxes. Titles, names and hosts pass `plain` here. */

const t = l10n.t;

export function vaultName(kind: VaultKind): string {
  return kind === 'agents' ? t('Agents’ vault') : t('Personal vault');
}

export function itemKindWord(kind: ItemKind): string {
  switch (kind) {
    case 'login':
      return t('login');
    case 'token':
      return t('token');
    case 'keyPair':
      return t('key pair');
    case 'certificate':
      return t('certificate');
    case 'note':
      return t('note');
    case 'database':
      return t('database');
  }
}

export function fieldKindWord(kind: FieldKind): string {
  switch (kind) {
    case 'text':
      return t('text');
    case 'secret':
      return t('secret');
    case 'address':
      return t('address');
    case 'lines':
      return t('several lines');
    case 'privateKey':
      return t('private key');
    case 'publicKey':
      return t('public key');
    case 'certificate':
      return t('certificate');
  }
}

/** What a vault's line says beside its name; undefined where it is open. */
export function statusWord(status: VaultStatus): string | undefined {
  switch (status.state) {
    case 'open':
      return undefined;
    case 'unknown':
      return t('not looked at yet');
    case 'locked':
      return t('locked');
    case 'absent':
      return t('not created yet');
    case 'keyring-silent':
      return t('the secret storage does not answer');
    case 'not-kept':
      return t('its key was not kept on this machine');
    case 'device-key-lost':
      return t('its device key is not here');
    case 'tampered':
      return t('altered: {0}', tamperingWord(status.what));
    case 'rolled-back':
      return t('an older file was put back');
    case 'counter-unavailable':
      return t('can’t tell whether it is the newest');
    case 'other-vault':
      return t('another vault’s file lies in its place');
    case 'unsupported':
      return t('written by a later version of Sallyport');
    case 'unreadable':
      return t('can’t be read ({0})', status.code);
  }
}

/** What it means and what to do, for the tooltip and the message. */
export function statusExplanation(status: VaultStatus): string {
  switch (status.state) {
    case 'open':
    case 'unknown':
    case 'locked':
      return '';
    case 'absent':
      return t('Nothing is kept yet.');
    case 'keyring-silent':
      return t(
        'VS Code’s secret storage did not answer within ten seconds; a keyring may be locked. Nothing was changed. Unlock it and try again.',
      );
    case 'not-kept':
      return t(
        'Sallyport stored the device key, and this VS Code forgot it: its secret storage is in memory only. The vault is unharmed. Open it with the recovery key each time, use the personal vault, or start VS Code where secrets are kept.',
      );
    case 'device-key-lost':
      return t(
        'The vault is there, and the key that opens it on this machine is not: another browser, another computer, or a keyring that was replaced. Nothing was changed. The recovery key opens it and stores a fresh device key.',
      );
    case 'tampered':
      return t(
        'The file is not what Sallyport saved: {0}. Nothing of it is used, and nothing was changed. Restore a backup.',
        tamperingWord(status.what),
      );
    case 'rolled-back':
      return t(
        'The file is a whole older one (change {0}, and {1} was seen here). What was saved since is missing. If you put it back yourself, open it; else restore a backup.',
        status.counter,
        status.known,
      );
    case 'counter-unavailable':
      return t(
        'The secret storage, which knows the newest change, does not answer. Try again, or open the vault without that check.',
      );
    case 'other-vault':
      return t('The file in this place is of the other kind of vault. Nothing was changed.');
    case 'unsupported':
      return t('It has version {0}. Update Sallyport to open it.', status.version);
    case 'unreadable':
      return t('The system says {0}. Nothing was changed.', status.code);
  }
}

function tamperingWord(what: Tampering): string {
  switch (what) {
    case 'header-altered':
      return t('its header was altered');
    case 'downgraded':
      return t('its protection was weakened');
    case 'truncated':
      return t('it was cut short');
    case 'row-removed':
      return t('something was taken out');
    case 'row-swapped':
      return t('an item stands in another’s place');
    case 'row-rolled-back':
      return t('an older version was put back');
    case 'row-foreign':
      return t('something of another vault was put in');
    case 'row-altered':
      return t('an item was altered');
    case 'index-altered':
      return t('its index was altered');
  }
}

export const vaultWords = {
  title: (): string => t('Vault'),
  items: (count: number): string => (count === 1 ? t('one item') : t('{0} items', count)),
  waits: (count: number): string => (count === 1 ? t('One request waits') : t('{0} requests wait', count)),
  waitsHint: (): string => t('press to answer'),
  wayOut: {
    create: (): string => t('Create it…'),
    createPersonal: (): string => t('Create it with a password…'),
    unlock: (): string => t('Unlock…'),
    look: (): string => t('Open'),
    recover: (): string => t('Open with the recovery key…'),
    retry: (): string => t('Try again'),
    restore: (): string => t('Restore a backup…'),
    openOlder: (): string => t('Open it all the same…'),
    addFirst: (): string => t('Add an item…'),
  },
  expires: (when: string): string => t('expires {0}', when),
  expired: (when: string): string => t('expired {0}', when),
  sentTo: (hosts: readonly string[]): string =>
    hosts.length === 0
      ? t('may be sent wherever you grant it')
      : t('may be sent to {0}', hosts.map(plain).join(', ')),
  sealed: (): string => t('sealed'),
  reveal: (): string => t('Reveal'),
  savedAt: (version: number, when: string): string => t('version {0}, saved {1}', version, when),
  unguarded: (): string =>
    t(
      'Where this vault’s counter is kept can’t be reached: an older file that is put back would not be noticed.',
    ),
  statusUnlocked: (): string => t('Personal vault open'),
  statusTooltip: (): string => t('Your personal vault is unlocked. Press to lock it.'),
  spokenVault: (name: string, state: string): string => `${name}, ${state}`,
} as const;

export const editWords = {
  chooseVault: (): string => t('Which vault?'),
  agentsDetail: (): string =>
    t('For what cards, apps and agents may be granted. Opens by this machine’s key.'),
  personalDetail: (): string => t('For yourself. Opens with your password and Secret Key, and locks itself.'),
  chooseKind: (): string => t('What is it?'),
  kindDetail: (kind: ItemKind): string => {
    switch (kind) {
      case 'login':
        return t('User name, password, address');
      case 'token':
        return t('An API token or key: one value');
      case 'keyPair':
        return t('Ed25519: made here, signs without being shown');
      case 'certificate':
        return t('A certificate and its private key');
      case 'note':
        return t('Text that is nobody else’s');
      case 'database':
        return t('Host, name, user and password');
    }
  },
  generate: (): string => t('Make a fresh Ed25519 key pair in the vault'),
  takeExisting: (): string => t('Take in a private key that you have'),
  titlePrompt: (): string => t('Title, as it is listed. It is no secret.'),
  titleProblem: (): string => t('1 to 200 visible characters, without spaces around them.'),
  formTitle: (title: string, isNew: boolean): string =>
    isNew ? t('New: {0}', plain(title)) : t('Edit: {0}', plain(title)),
  formPlaceholder: (): string => t('Choose what to change. Values that are kept are never shown here.'),
  save: (): string => t('Save'),
  saveNothing: (): string => t('nothing was changed'),
  saveNote: (count: number): string => (count === 1 ? t('one change') : t('{0} changes', count)),
  partTitle: (): string => t('Title'),
  partHosts: (): string => t('Hosts'),
  partTags: (): string => t('Tags'),
  partExpiry: (): string => t('Expiry'),
  addField: (): string => t('Add a field'),
  fields: (): string => t('Fields'),
  about: (): string => t('About it'),
  none: (): string => t('none'),
  kept: (): string => t('kept as it is'),
  changed: (): string => t('new value'),
  empty: (): string => t('no value yet'),
  valuePrompt: (field: string): string => t('Value of “{0}”. It is sealed when you save.', plain(field)),
  valueEmpty: (): string => t('Type a value, or press Escape to leave it as it is.'),
  fieldActs: {
    set: (): string => t('Type the value'),
    clipboard: (): string => t('Take the value from the clipboard'),
    file: (): string => t('Read the value from a file…'),
    remove: (): string => t('Remove the field'),
  },
  clipboardNote: (): string => t('the clipboard is emptied'),
  clipboardEmpty: (): string => t('The clipboard holds no text.'),
  fileTooLarge: (): string => t('That file is larger than 1 MB, the most that a value can be.'),
  fieldName: (): string => t('Name of the field: small letters, digits and hyphens'),
  fieldNameProblem: (): string => t('Begin with a letter; small letters, digits and hyphens, at most 64.'),
  fieldNameTaken: (): string => t('There is a field of that name.'),
  fieldKind: (): string => t('What kind of value?'),
  hostsPrompt: (): string =>
    t('Hosts that a value may be sent to, with commas between: api.example.org, db.example.org:5432'),
  hostProblem: (host: string): string =>
    t(
      '“{0}” is no host as a request names it: no scheme, no path, small letters, Punycode for others.',
      plain(host),
    ),
  tagsPrompt: (): string => t('Tags, with commas between'),
  tagProblem: (tag: string): string => t('“{0}” can’t be a tag.', plain(tag)),
  expiryPrompt: (): string => t('Day on which it expires, as 2027-01-31; empty for never'),
  expiryProblem: (): string => t('Write a day as 2027-01-31.'),
  keepGrantsQuestion: (count: number) => ({
    text:
      count === 1
        ? t('One grant is for the version that you are changing.')
        : t('{0} grants are for the version that you are changing.', count),
    detail: t(
      'A grant is for the version that you saw. Carry it over only if those may use the new one too.',
    ),
    keep: t('Carry Over'),
    end: t('End Them'),
  }),
  discardQuestion: () => ({
    text: t('Throw away what you changed?'),
    button: t('Throw Away'),
    back: t('Go On Editing'),
  }),
  removeQuestion: (title: string, grants: number) => ({
    text: t('Remove “{0}” with all its versions?', plain(title)),
    detail:
      grants === 0
        ? t('The message that follows undoes it for two minutes.')
        : grants === 1
          ? t(
              'One grant ends with it. The message that follows undoes the removal for two minutes; the grant stays ended.',
            )
          : t(
              '{0} grants end with it. The message that follows undoes the removal for two minutes; the grants stay ended.',
              grants,
            ),
    button: t('Remove'),
  }),
} as const;

export const revealWords = {
  title: (field: string, title: string): string => `${plain(title)} · ${plain(field)}`,
  hides: (seconds: number): string => t('Hides itself in {0} s', seconds),
  copy: (): string => t('Copy; the clipboard is cleared after 30 seconds'),
  escaped: (): string =>
    t('Characters that could not be seen are shown escaped. Copy gives the value as it is.'),
  lines: (count: number): string => (count === 1 ? t('one line') : t('{0} lines', count)),
  chooseField: (title: string): string => t('Which field of “{0}”?', plain(title)),
  chooseItem: (): string => t('Which item?'),
  versions: (title: string): string => t('Versions of “{0}”', plain(title)),
} as const;

export const lifeWords = {
  newPassword: (): string => t('Password of the personal vault, at least eight characters'),
  repeat: (): string => t('The same once more'),
  differs: (): string => t('That is not the same.'),
  short: (): string => t('At least eight characters.'),
  createTitle: (): string => t('Create the personal vault'),
  unlockTitle: (): string => t('Unlock the personal vault'),
  password: (): string => t('Password'),
  secretKey: (): string => t('Secret Key, as it stands on the kit: SP1-…'),
  secretKeyProblem: (): string =>
    t('That is no Secret Key: it begins with SP1 and its last characters check the rest.'),
  recoverTitle: (): string => t('Open the agents’ vault'),
  recoveryKey: (): string => t('Recovery key, as it stands on the kit: SP1-…'),
  wrongPassword: (): string => t('The password or the Secret Key does not fit.'),
  wrongSecretKey: (): string =>
    t('That is the Secret Key of another vault, or of this one before it was changed.'),
  wait: (ms: number): string =>
    t('Too many wrong passwords: wait {0}. A restart does not shorten it.', duration(ms)),
  passphrase: (): string => t('Passphrase of the backup, at least twelve characters'),
  passphraseShort: (): string => t('At least twelve characters.'),
  passphraseOf: (file: string): string => t('Passphrase of {0}', plain(file)),
  wrongPassphrase: (): string => t('That is not the passphrase of this backup.'),
  kitShown: (use: 'personal' | 'recovery') => ({
    text:
      use === 'personal'
        ? t('This is the Secret Key of your personal vault. It is shown this one time.')
        : t('This is the recovery key of the agents’ vault. It is shown this one time.'),
    save: t('Save as a Page to Print…'),
    done: t('I Have It on Paper'),
  }),
  kitDetail: (use: 'personal' | 'recovery', key: string): string =>
    use === 'personal'
      ? t(
          '{0}\n\nTogether with your password it opens the vault. Nobody can give it to you again. Print it and put it away; do not keep the file.',
          key,
        )
      : t(
          '{0}\n\nIt opens the vault where this machine’s key is lost. Nobody can give it to you again. Print it and put it away; do not keep the file.',
          key,
        ),
  kitFile: (use: 'personal' | 'recovery'): string =>
    use === 'personal' ? 'sallyport-secret-key.txt' : 'sallyport-recovery-key.txt',
  keepSecretKey: () => ({
    text: t(
      'Keep the Secret Key in this computer’s secret storage, so that you are asked for the password alone?',
    ),
    button: t('Keep It Here'),
  }),
  backupMade: (kind: VaultKind, when: string, items: number): string =>
    t('{0}, made {1}, {2}', vaultName(kind), when, vaultWords.items(items)),
  restoreTitle: (): string => t('What is in the backup'),
  restoreNow: (): string => t('Restore this backup'),
  restoreNote: (): string => t('the vault that is here is set aside first, whole'),
} as const;

export const runWords = {
  title: (): string => t('Run a command with vault values'),
  chooseValues: (): string => t('Which values may it have in its environment?'),
  variable: (value: string): string => t('Variable for {0}', plain(value)),
  variableProblem: (): string => t('Letters, digits and underscores; not a digit at the beginning.'),
  variableTaken: (): string => t('There is a variable of that name already.'),
  command: (): string => t('Command, run by a shell in the first folder. Name the variables, never a value.'),
  commandProblem: (): string => t('Type a command.'),
  sentence: (command: string, variables: readonly string[]): string =>
    t('The command “{0}” gets {1}', plain(command), variables.map(plain).join(', ')),
  unfit: (value: string): string =>
    t(
      '{0} is shorter than six characters, or no text: it could not be taken out of the output, so nothing was run.',
      plain(value),
    ),
  terminal: (): string => t('Vault Command'),
  accidentsOnly: (): string =>
    t('The output comes without the values. That stops accidents only: the command itself has them.'),
  ended: (code: number): string => t('Ended with {0}.', code),
} as const;

export const importWords = {
  chooseFormat: (): string => t('Where is it from?'),
  formats: {
    dotenv: (): string => t('A .env file'),
    bitwarden: (): string => t('Bitwarden, JSON (not encrypted)'),
    keepass: (): string => t('KeePass or KeePassXC, CSV'),
  },
  open: (): string => t('Import'),
  question: (file: string, count: number, skipped: readonly string[]) => ({
    text: t('Take {0} from {1} into the vault?', vaultWords.items(count), plain(file)),
    detail: skipped.length === 0 ? t('Nothing is left out.') : t('Left out: {0}', skipped.join('; ')),
    button: t('Import'),
  }),
  skipped: (at: number, why: SkipReason): string => t('no. {0}: {1}', at, skipWord(why)),
  more: (count: number): string => t('and {0} more', count),
  shredQuestion: (file: string) => ({
    text: t('The values still stand readable in {0}. Shred the file?', plain(file)),
    detail: t(
      'It is overwritten and removed. Copies that a disk, a snapshot or a backup made are out of Sallyport’s reach: change what matters.',
    ),
    button: t('Shred'),
  }),
  nothing: (): string => t('There is nothing to import in that file.'),
  exportTitle: (): string => t('Export, readable by anyone who has the file'),
  exportPick: (): string => t('Which items?'),
} as const;

function skipWord(why: SkipReason): string {
  switch (why) {
    case 'no-value':
      return t('no value');
    case 'kind':
      return t('a kind that the vault has not');
    case 'too-long':
      return t('too long');
    case 'not-text':
      return t('no text');
    case 'too-many-fields':
      return t('too many fields');
  }
}

/** Why an import file was turned away. */
export function importProblem(error: ImportError, file: string): string {
  const line = error.line === undefined ? '' : ` (${t('line {0}', error.line)})`;
  switch (error.code) {
    case 'encrypted':
      return t(
        '{0} is encrypted: only the program that wrote it can read it. Export it there without a password.',
        plain(file),
      );
    case 'malformed':
      return t('{0} can’t be read{1}. Nothing was imported.', plain(file), line);
    case 'unknown-columns':
      return t(
        'The first line of {0} names no column of passwords, so it is no KeePass export.',
        plain(file),
      );
    case 'too-large':
      return t('{0} is too large to import at once.', plain(file));
  }
}

/** Why an act on an open vault was not done; nothing changed. */
export function vaultProblem({ code, data }: VaultError): string {
  switch (code) {
    case 'locked':
      return t('The vault is locked. Unlock it and try again.');
    case 'no-such-item':
    case 'no-such-field':
    case 'no-such-version':
    case 'no-such-grant':
      return t('That is no longer in the vault.');
    case 'changed-elsewhere':
      return t(
        'The item was changed in another window meanwhile. Nothing was saved: look at it and try again.',
      );
    case 'bad-item':
      return badItem(String(data['problem']) as DraftProblem, String(data['name'] ?? ''));
    case 'bad-key':
      return t('That key is not one that can be used safely.');
    case 'no-private-key':
      return t('The item has no private key that signs.');
    case 'not-granted':
      return t('There is no grant for that.');
    case 'already-answered':
      return t('That request was answered already.');
    case 'too-many-asks':
      return t('Too many requests wait already. Answer those first.');
    case 'wrong-password':
      return lifeWords.wrongPassword();
    case 'weak-password':
      return t('That password is too short.');
    case 'exists':
      return t('Something of that name is there already. Nothing was overwritten.');
    case 'tampered':
      return t(
        'That item is not what was saved: it was altered on the disk. It is not used. Restore a backup.',
      );
    case 'rolled-back':
      return t('An older file was put in the vault’s place. Nothing was changed.');
    case 'busy':
      return t('Another window is writing to the vault. Try again.');
    case 'disk-full':
      return t('The disk is full, so nothing was saved. What was there before is unharmed.');
    case 'not-written':
      return t('The vault could not be written. What was there before is unharmed.');
    case 'random-repeats':
      return t('This machine’s random numbers repeat themselves, so nothing is sealed with them.');
  }
}

function badItem(problem: DraftProblem, name: string): string {
  switch (problem) {
    case 'host':
      return editWords.hostProblem(name);
    case 'tag':
      return editWords.tagProblem(name);
    case 'title':
      return editWords.titleProblem();
    case 'expiry':
      return editWords.expiryProblem();
    case 'value':
      return t('A value is missing or larger than 1 MB: {0}.', plain(name));
    case 'fields':
      return t('An item needs one field, and has at most 64.');
    case 'id':
    case 'kind':
    case 'field':
    case 'field-twice':
      return t('The field “{0}” can’t be saved under that name.', plain(name));
  }
}
