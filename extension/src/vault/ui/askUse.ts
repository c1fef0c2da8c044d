import { window, type QuickPickItem } from 'vscode';
import type { VaultUse } from '../../../../protocol/src/vault.ts';
import {
  headerNamePattern,
  isFramingHeader,
  queryNamePattern,
  userNamePattern,
} from '../../../../protocol/src/vaultUse.ts';
import { textStep } from '../../native/steps.ts';
import { pluginWords as words, type UseKind } from './pluginWords.ts';

const kinds: readonly UseKind[] = ['bearer', 'header', 'basic', 'query'];

/** Asks how a value goes into requests to these hosts. Undefined where the person turned away. */
export async function askUse(title: string, hosts: string[]): Promise<VaultUse | undefined> {
  const chosen = await window.showQuickPick(
    kinds.map((kind): QuickPickItem & { readonly use: UseKind } => ({
      label: words.use(kind),
      detail: words.useDetail(kind),
      use: kind,
    })),
    { title, placeHolder: words.chooseUse(), ignoreFocusOut: true },
  );
  switch (chosen?.use) {
    case undefined:
      return undefined;
    case 'bearer':
      return { kind: 'header', hosts, name: 'authorization', prefix: 'Bearer ' };
    case 'header': {
      const name = await askText(title, words.headerPrompt(), 'x-api-key', (text) =>
        headerNamePattern.test(text) && !isFramingHeader(text) ? undefined : words.headerProblem(),
      );
      return name === undefined ? undefined : { kind: 'header', hosts, name: name.toLowerCase(), prefix: '' };
    }
    case 'basic': {
      const user = await askText(title, words.userPrompt(), '', (text) =>
        userNamePattern.test(text) ? undefined : words.userProblem(),
      );
      return user === undefined ? undefined : { kind: 'basic', hosts, user };
    }
    case 'query': {
      const name = await askText(title, words.queryPrompt(), 'key', (text) =>
        queryNamePattern.test(text) ? undefined : words.queryProblem(),
      );
      return name === undefined ? undefined : { kind: 'query', hosts, name };
    }
  }
}

async function askText(
  title: string,
  prompt: string,
  value: string,
  check: (text: string) => string | undefined,
): Promise<string | undefined> {
  const asked = await textStep({ title, step: 1, totalSteps: 1, prompt, value, check });
  return asked.kind === 'value' ? asked.value : undefined;
}
