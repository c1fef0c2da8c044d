import { l10n } from 'vscode';
import { plain } from '../plainText.ts';
import { duration } from '../figures.ts';
import type { Notice } from '../messages.ts';
import type { Refusal } from './passkeyAnswer.ts';
import type { PasswordProblem } from './passwordVerifier.ts';
import type { PresenceAct, VaultName } from './presenceAct.ts';
import type { PageWords } from './presencePage.ts';

/** Every text about presence. Values from items and grants pass `plain` here. */

const t = l10n.t;

/** The act as a sentence: the same one in VS Code and on the page. */
export function actSentence(act: PresenceAct): string {
  switch (act.name) {
    case 'reveal':
      return t(
        'Show or copy the field “{0}” of “{1}” ({2}), version {3}',
        plain(act.field),
        plain(act.title),
        vaultWord(act.vault),
        act.version,
      );
    case 'export':
      return act.items.length === 1
        ? t('Write one item of the {0}, readable by anyone, to {1}', vaultWord(act.vault), plain(act.path))
        : t(
            'Write {0} items of the {1}, readable by anyone, to {2}',
            act.items.length,
            vaultWord(act.vault),
            plain(act.path),
          );
    case 'approveGrant':
      return t('Allow: {0}', plain(act.sentence));
    case 'changeSetting':
      return t('Change the setting {0} from {1} to {2}', plain(act.setting), plain(act.from), plain(act.to));
    case 'restore':
      return act.why === 'stale'
        ? t('Put the vault back to the older state in {0}', plain(act.path))
        : t('Take in another vault’s backup, {0}', plain(act.path));
    case 'addPasskey':
      return t('Add the passkey “{0}”', plain(act.label));
    case 'removePasskey':
      return t('Remove the passkey “{0}”', plain(act.label));
    case 'setPassword':
      return t('Set the password that confirms acts');
    case 'removePassword':
      return t('Remove the password that confirms acts');
  }
}

function vaultWord(vault: VaultName): string {
  return vault === 'agents' ? t('agents’ vault') : t('personal vault');
}

/** The page of one act. */
export function pageWords(act: PresenceAct): PageWords {
  const isNew = act.name === 'addPasskey';
  return {
    title: t('Sallyport in VS Code asks: is it you?'),
    sentence: actSentence(act),
    detail: isNew
      ? t(
          'A passkey is made for “localhost” and stays with your authenticator. VS Code keeps its public half.',
        )
      : t(
          'Confirm only if you started this in VS Code just now. The answer counts for this act alone, once, within two minutes.',
        ),
    confirm: isNew ? t('Create the passkey') : t('Confirm with a passkey'),
    waiting: t('Your authenticator asks you now.'),
    done: t('Done. You can close this page and go back to VS Code.'),
    cancelled: t('Nothing was confirmed. Try again, or close this page.'),
    unsupported: t('This browser has no passkeys. Go back to VS Code and use the password.'),
    failed: t('VS Code no longer waits for this. Close the page and start again there.'),
  };
}

export function refusalText(refusal: Refusal): string {
  switch (refusal) {
    case 'malformed':
      return t('Refused: the answer is not one that an authenticator gives.');
    case 'unknown-passkey':
      return t('Refused: this passkey is not registered with Sallyport.');
    case 'other-page':
      return t('Refused: the answer was made on another page.');
    case 'inside-another-page':
      return t('Refused: the page was shown inside another one.');
    case 'other-challenge':
      return t('Refused: the answer is to another question.');
    case 'user-not-verified':
      return t('Refused: the authenticator did not check who you are. It needs a PIN or a fingerprint.');
    case 'counter-went-back':
      return t(
        'Refused: the passkey’s counter went back, as a copy of it would have it. Remove that passkey.',
      );
    case 'not-signed-by-it':
      return t('Refused: the signature is not the passkey’s.');
    case 'late':
      return t('Refused: it took longer than two minutes. Start again in VS Code.');
  }
}

export const presenceWords = {
  choose: (): string => t('Prove that you are here'),
  byPasskey: (): string => t('Passkey'),
  byPasskeyDetail: (): string => t('Opens a page of this machine in your browser'),
  byPassword: (): string => t('Password'),
  byPasswordDetail: (): string => t('The password that confirms acts, not that of the personal vault'),
  setUp: (): string => t('First choose how you prove that you are here'),
  setUpPasskeyDetail: (): string =>
    t('Fingerprint, face, PIN or security key, in your browser. Nothing to remember.'),
  setUpPasswordDetail: (): string => t('At least ten characters. For windows whose browser is elsewhere.'),
  passwordPrompt: (): string => t('Password that confirms acts'),
  newPasswordPrompt: (): string =>
    t('New password that confirms acts, at least ten characters. Do not use the personal vault’s.'),
  repeatPrompt: (): string => t('The same once more'),
  differs: (): string => t('That is not the same.'),
  passwordProblem: (problem: PasswordProblem): string =>
    problem === 'short' ? t('At least ten characters.') : t('At most 1,024 characters.'),
  wrong: (): string => t('That is not the password.'),
  wait: (ms: number): string =>
    t('Too many wrong passwords: wait {0}. The wait goes on when VS Code is restarted.', duration(ms)),
  waitingInBrowser: (act: PresenceAct): string => t('Waiting for your browser: {0}', actSentence(act)),
  passkeyLabel: (): string => t('Name of the passkey'),
  passkeyDefault: (count: number): string => t('Passkey {0}', count + 1),
  passkeyLabelProblem: (): string => t('1 to 80 characters.'),
  manageTitle: (): string => t('How you prove that you are here'),
  addPasskey: (): string => t('Add a passkey'),
  setPassword: (): string => t('Set a password'),
  changePassword: (): string => t('Change the password'),
  removePassword: (): string => t('Remove the password'),
  passkeyAdded: (when: string): string => t('added {0}; choose to remove it', when),
};

export const presenceNotices = {
  passkeyAdded: (label: string): Notice => ({
    severity: 'info',
    text: t('The passkey “{0}” confirms acts from now on.', plain(label)),
  }),
  passkeyRemoved: (label: string): Notice => ({
    severity: 'info',
    text: t('The passkey “{0}” confirms nothing any more.', plain(label)),
  }),
  passwordSet: (): Notice => ({ severity: 'info', text: t('The password confirms acts from now on.') }),
  passwordRemoved: (): Notice => ({
    severity: 'info',
    text: t('The password confirms nothing any more.'),
  }),
  lastFactor: (): Notice => ({
    severity: 'warning',
    text: t('This is the only way in which you can prove that you are here. Add another one first.'),
  }),
  refused: (refusal: Refusal): Notice => ({ severity: 'warning', text: refusalText(refusal) }),
  late: (): Notice => ({
    severity: 'info',
    text: t('Nobody confirmed within two minutes, so nothing was done.'),
  }),
  browserElsewhere: (): Notice => ({
    severity: 'info',
    text: t(
      'Your browser does not reach this machine as “localhost”, and a passkey counts for that name only. Use the password here.',
    ),
  }),
  browserElsewhereNoPassword: (): Notice => ({
    severity: 'warning',
    text: t(
      'Your browser does not reach this machine as “localhost”, and a passkey counts for that name only. Set a password in a window where the passkey works.',
    ),
    action: { title: t('Manage Presence'), command: 'sallyport.managePresence' },
  }),
  notOpened: (): Notice => ({
    severity: 'warning',
    text: t('VS Code could not open your browser, so nothing was confirmed.'),
  }),
  damaged: (path: string): Notice => ({
    severity: 'error',
    text: t(
      'The file with your passkeys and password can’t be read, so nothing can be confirmed: {0}. Put a copy of it back, or remove it and set them up again.',
      plain(path),
    ),
  }),
  settingKept: (setting: string): Notice => ({
    severity: 'info',
    text: t('{0} stays as it was.', plain(setting)),
  }),
  settingChanged: (setting: string, value: string): Notice => ({
    severity: 'info',
    text: t('{0} is {1} now.', plain(setting), plain(value)),
  }),
};

/** Asked where a guarded setting was changed: sentence and button. */
export function settingQuestion(setting: string, to: string): { text: string; button: string } {
  return {
    text: t(
      '{0} was changed to {1}. It opens something, so it counts only after you have proved that you are here.',
      plain(setting),
      plain(to),
    ),
    button: t('Confirm'),
  };
}
