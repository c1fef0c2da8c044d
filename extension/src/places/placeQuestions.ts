import { window, type InputBox } from 'vscode';
import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import type { placePersonRequests } from '../../../protocol/src/places.ts';
import { placeWords } from '../placeMessages.ts';
import { plain } from '../plainText.ts';

type Requests = typeof placePersonRequests;
type Secret = ParamsOf<Requests['place/askSecret']>;

/** Asks about a host that is connected to for the first time. Anything but the one button is a no. */
export async function confirmHostKey(
  question: ParamsOf<Requests['place/confirmHostKey']>,
): Promise<ResultOf<Requests['place/confirmHostKey']>> {
  const { place, host, port, via, keyType, fingerprint } = question;
  const yes = placeWords.firstUseYes();
  const chosen = await window.showWarningMessage(
    placeWords.firstUse(place, host, port),
    { modal: true, detail: placeWords.firstUseDetail(keyType, fingerprint, via) },
    yes,
  );
  return { accepted: chosen === yes };
}

/** Says that a host was refused. There is nothing to accept: the only button closes it. */
export async function showChangedHostKey(
  change: ParamsOf<Requests['place/changedHostKey']>,
): Promise<ResultOf<Requests['place/changedHostKey']>> {
  const { place, host, port, via, keyType, fingerprint, known } = change;
  await window.showErrorMessage(placeWords.changed(place, host, port), {
    modal: true,
    detail: placeWords.changedDetail({ keyType, fingerprint }, known, via),
  });
  return {};
}

/** Asks each prompt in turn. Closing one, or the engine taking the question back, declines all of them. */
export async function askSecret(
  question: Secret,
  signal: AbortSignal,
): Promise<ResultOf<Requests['place/askSecret']>> {
  const answers: string[] = [];
  for (const [index, prompt] of question.prompts.entries()) {
    const answer = await askOne(question, prompt, index, signal);
    if (answer === undefined) return { answers: null };
    answers.push(answer);
  }
  return { answers };
}

function askOne(
  question: Secret,
  prompt: Secret['prompts'][number],
  index: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { place, from, kind, instructions, prompts } = question;
  const box: InputBox = window.createInputBox();
  box.title = kind === 'passphrase' ? placeWords.passphraseTitle(place) : placeWords.secretTitle(place, from);
  box.prompt = [instructions, prompt.text]
    .filter((text) => text !== '')
    .map(plain)
    .join(' — ');
  box.password = !prompt.echo;
  box.ignoreFocusOut = true;
  box.step = index + 1;
  box.totalSteps = prompts.length;
  return new Promise((resolve) => {
    const end = (answer: string | undefined): void => {
      signal.removeEventListener('abort', decline);
      resolve(answer);
      box.dispose();
    };
    const decline = (): void => end(undefined);
    if (signal.aborted) {
      decline();
      return;
    }
    signal.addEventListener('abort', decline, { once: true });
    box.onDidAccept(() => end(box.value));
    box.onDidHide(decline);
    box.show();
  });
}
