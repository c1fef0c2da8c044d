import { env, ProgressLocation, UIKind, Uri, window, type QuickPickItem } from 'vscode';
import { closeForgetting } from '../native/forgetText.ts';
import { textStep } from '../native/steps.ts';
import type { Verdict } from './pageServer.ts';
import { passwordProblem } from './passwordVerifier.ts';
import type { PresenceAct } from './presenceAct.ts';
import { actSentence, presenceWords } from './presenceMessages.ts';

export type Factor = 'passkey' | 'password';

/** How waiting for the browser ended. */
export type PageEnd = 'answered' | 'cancelled' | 'late' | 'not-opened';

export interface OpenPage {
  readonly uri: string;
  readonly answered: Promise<Verdict>;
  readonly timeoutMs: number;
  readonly closing: AbortSignal;
}

/** What presence shows in VS Code: native boxes and lists that only a person answers. */
export interface PresenceWindow {
  choose(act: PresenceAct, choices: readonly Factor[]): Promise<Factor | undefined>;
  chooseFirst(act: PresenceAct): Promise<Factor | undefined>;
  /** Asks until `check` has nothing to say, which is true, or the box is closed. */
  askPassword(act: PresenceAct, check: (text: string) => Promise<string | undefined>): Promise<boolean>;
  askNewPassword(): Promise<string | undefined>;
  askLabel(known: number): Promise<string | undefined>;
  asExternal(uri: string): Promise<string>;
  /** Opens the browser and waits, with a way to cancel. */
  whileOpen(act: PresenceAct, page: OpenPage): Promise<PageEnd>;
}

export const presenceWindow: PresenceWindow = {
  choose: (act, choices) => chooseFrom(act, presenceWords.choose(), choices.map(toItem)),

  chooseFirst: (act) =>
    chooseFrom(act, presenceWords.setUp(), [
      { ...toItem('passkey'), detail: presenceWords.setUpPasskeyDetail() },
      { ...toItem('password'), detail: presenceWords.setUpPasswordDetail() },
    ]),

  askPassword: (act, check) => {
    const box = window.createInputBox();
    box.title = actSentence(act);
    box.prompt = presenceWords.passwordPrompt();
    box.password = true;
    box.ignoreFocusOut = true;
    return new Promise((resolve) => {
      const end = (isRight: boolean): void => {
        resolve(isRight);
        closeForgetting(box);
      };
      const submit = async (): Promise<void> => {
        box.busy = true;
        box.enabled = false;
        try {
          const problem = await check(box.value);
          if (problem === undefined) end(true);
          else box.validationMessage = problem;
        } finally {
          box.busy = false;
          box.enabled = true;
        }
      };
      box.onDidChangeValue(() => (box.validationMessage = undefined));
      box.onDidAccept(() => void submit().catch(() => end(false)));
      box.onDidHide(() => end(false));
      box.show();
    });
  },

  askNewPassword: async () => {
    const title = presenceWords.manageTitle();
    const first = await textStep({
      title,
      step: 1,
      totalSteps: 2,
      prompt: presenceWords.newPasswordPrompt(),
      isSecret: true,
      check: (text) => {
        const problem = passwordProblem(text);
        return problem && presenceWords.passwordProblem(problem);
      },
    });
    if (first.kind !== 'value') return undefined;
    const second = await textStep({
      title,
      step: 2,
      totalSteps: 2,
      prompt: presenceWords.repeatPrompt(),
      isSecret: true,
      check: (text) => (text === first.value ? undefined : presenceWords.differs()),
    });
    if (second.kind === 'back') return presenceWindow.askNewPassword();
    return second.kind === 'value' ? first.value : undefined;
  },

  askLabel: async (known) => {
    const asked = await textStep({
      title: presenceWords.addPasskey(),
      step: 1,
      totalSteps: 1,
      prompt: presenceWords.passkeyLabel(),
      value: presenceWords.passkeyDefault(known),
      check: (text) =>
        text.trim() === '' || text.length > 80 ? presenceWords.passkeyLabelProblem() : undefined,
    });
    return asked.kind === 'value' ? asked.value.trim() : undefined;
  },

  asExternal: async (uri) => {
    let external: string;
    try {
      external = (await env.asExternalUri(Uri.parse(uri, true))).toString(true);
    } catch {
      // No way from the person's browser to here: the password is left.
      return '';
    }
    return env.uiKind === UIKind.Web && isOnLoopback(external) ? uri : external;
  },

  whileOpen: (act, page) =>
    Promise.resolve(
      window.withProgress(
        {
          location: ProgressLocation.Notification,
          title: presenceWords.waitingInBrowser(act),
          cancellable: true,
        },
        async (_progress, cancelled): Promise<PageEnd> => {
          if (!(await env.openExternal(toOpen(page.uri)))) return 'not-opened';
          return new Promise((resolve) => {
            const timer = setTimeout(() => resolve('late'), page.timeoutMs);
            const end = (how: PageEnd): void => {
              clearTimeout(timer);
              resolve(how);
            };
            cancelled.onCancellationRequested(() => end('cancelled'));
            page.closing.addEventListener('abort', () => end('cancelled'), { once: true });
            void page.answered.then(() => end('answered'));
          });
        },
      ),
    ),
};

/**
 * True for a web proxy that VS Code's own page has on a loopback address: the browser then is on this machine, where it
 * needs no proxy. Where it only seems so, through a forwarded port, the page does not open and the password is left.
 */
function isOnLoopback(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/**
 * In a browser VS Code would rewrite a local address to its proxy, under whose name no passkey counts. It knows one by
 * its small letters; a browser takes both for the same (RFC 3986, 3.2.2).
 */
function toOpen(address: string): Uri {
  const uri = Uri.parse(address, true);
  return env.uiKind === UIKind.Web ? uri.with({ authority: uri.authority.toUpperCase() }) : uri;
}

interface FactorItem extends QuickPickItem {
  readonly factor: Factor;
}

function toItem(factor: Factor): FactorItem {
  return factor === 'passkey'
    ? { factor, label: presenceWords.byPasskey(), detail: presenceWords.byPasskeyDetail() }
    : { factor, label: presenceWords.byPassword(), detail: presenceWords.byPasswordDetail() };
}

async function chooseFrom(
  act: PresenceAct,
  placeHolder: string,
  items: readonly FactorItem[],
): Promise<Factor | undefined> {
  const chosen = await window.showQuickPick(items, {
    title: actSentence(act),
    placeHolder,
    ignoreFocusOut: true,
  });
  return chosen?.factor;
}
