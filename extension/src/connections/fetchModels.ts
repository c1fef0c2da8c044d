import { UserError } from '../../../protocol/src/errors.ts';
import { brokerWords } from '../agentMessages.ts';
import type { ConnectionKeys } from './connectionKeys.ts';
import { connectionKindFacts, type NetworkKind } from './connectionKinds.ts';
import type { SavedConnection } from './connectionStore.ts';
import type { HttpAnswer, OpenHttp } from './httpRequest.ts';
import { parseModelList, type ListedModel } from './modelList.ts';
import { toNetworkError } from './brokerStream.ts';
import { refuseRedirect } from './providerBroker.ts';

const largestList = 4 * 1024 * 1024;

/**
 * Asks a connection's provider for its models, with its key. Rejects with `UserError`, in words: no network, a redirect,
 * a refused key, an answer that is no list or larger than 4 MB.
 */
export async function fetchModels(
  connection: SavedConnection & { readonly kind: NetworkKind },
  { access, openHttp }: { readonly access: ConnectionKeys; readonly openHttp: OpenHttp },
  { signal, silenceMs }: { readonly signal: AbortSignal; readonly silenceMs: number },
): Promise<ListedModel[]> {
  const facts = connectionKindFacts[connection.kind];
  const { headers, scrubber } = await access.authorize(connection, connection.kind);
  const url = `${connection.base}/${facts.modelsPath}`;
  const all = { ...facts.headers, ...headers, accept: 'application/json' };
  let answer: HttpAnswer;
  let text: string | undefined;
  try {
    answer = await openHttp({ url, method: 'GET', headers: all, body: '', signal, silenceMs });
    refuseRedirect(answer);
    text = await readText(answer);
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (signal.aborted) throw new UserError('cancelled', 'The list was not waited for');
    throw toNetworkError(error, scrubber);
  }
  const { status } = answer;
  if (status === 401 || status === 403) throw new UserError('unreadable', brokerWords.keyRefused(status));
  if (status !== 200) throw new UserError('unreadable', brokerWords.listStatus(status));
  const models = text === undefined ? undefined : parseModelList(connection.kind, text);
  if (!models) throw new UserError('unreadable', brokerWords.notAList());
  return models;
}

/** Undefined where there is more than a list may hold. */
async function readText({ body }: HttpAnswer): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body as AsyncIterable<Uint8Array>) {
    parts.push(part);
    size += part.byteLength;
    if (size > largestList) return undefined;
  }
  return Buffer.concat(parts).toString('utf8');
}
