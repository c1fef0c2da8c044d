import * as z from 'zod/mini';
import { BridgeError } from '../../../../protocol/src/bridge.ts';
import { parseAs } from '../../../../protocol/src/parseJson.ts';
import { createBrokerFetch, placeholderOrigin } from '../../agent/providers/brokerFetch.ts';
import { ProviderFailure } from '../../agent/providers/failures.ts';
import type { GenerateParams, GenerateResult } from '../../plugins/generate.ts';
import type { ProviderCall } from './createGenerate.ts';

/** An answer with bytes travels as base64 in one message. */
const largestAnswer = 5 * 1024 * 1024;

const images = z.object({ data: z.array(z.object({ b64_json: z.string() })).check(z.minLength(1)) });

/** OpenAI's image API. Rejects with `ProviderFailure`, or `BridgeError` `too-large`. */
export async function askImage(
  { prompt, size }: GenerateParams<'image'>,
  call: ProviderCall,
): Promise<GenerateResult<'image'>> {
  const { modelId, id } = call.chosen;
  // Older models give an address by default, which nobody here would follow.
  const format = /dall-e/.test(modelId) ? { response_format: 'b64_json' } : {};
  const body = { model: modelId, prompt, n: 1, ...(size !== undefined && { size }), ...format };
  const answer = parse(images, await post(call, 'images/generations', body));
  const base64 = answer.data[0]?.b64_json ?? '';
  const head = Buffer.from(base64.slice(0, 16), 'base64');
  return { mime: imageMime(head), base64, model: id.slice(0, 200) };
}

/** OpenAI's speech API, as MP3. */
export async function askSpeech(
  { text, voice }: GenerateParams<'speech'>,
  call: ProviderCall,
): Promise<GenerateResult<'speech'>> {
  const { modelId, id } = call.chosen;
  const body = { model: modelId, input: text, voice: voice ?? 'alloy', response_format: 'mp3' };
  const bytes = await post(call, 'audio/speech', body);
  return { mime: 'audio/mpeg', base64: bytes.toString('base64'), model: id.slice(0, 200) };
}

const numbers = z.array(z.number());
const openAiVectors = z.object({ data: z.array(z.object({ index: z.int(), embedding: numbers })) });
const ollamaVectors = z.object({ embeddings: z.array(numbers.check()) });

/** OpenAI's and Ollama's embedding APIs. One vector for each text, in order. */
export async function askEmbedding(
  { texts }: GenerateParams<'embedding'>,
  call: ProviderCall,
): Promise<GenerateResult<'embedding'>> {
  const { connection, modelId, id } = call.chosen;
  const isOllama = connection.kind === 'ollama';
  const bytes = await post(call, isOllama ? 'embed' : 'embeddings', { model: modelId, input: texts });
  const vectors = isOllama
    ? parse(ollamaVectors, bytes).embeddings
    : parse(openAiVectors, bytes)
        .data.sort((a, b) => a.index - b.index)
        .map(({ embedding }) => embedding);
  if (vectors.length !== texts.length) throw new ProviderFailure('malformed', '');
  return { vectors, model: id.slice(0, 200) };
}

async function post(
  { chosen, person, watch, signal }: ProviderCall,
  path: string,
  body: unknown,
): Promise<Buffer> {
  const send = createBrokerFetch(person, chosen.connection.id, watch);
  const response = await send(`${placeholderOrigin}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > largestAnswer) {
      await reader?.cancel();
      throw new BridgeError('too-large', 'What the model made is too large.');
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}

function parse<S extends z.ZodMiniType>(schema: S, bytes: Buffer): z.infer<S> {
  const fits = parseAs(schema, bytes.toString('utf8'));
  if (fits === undefined) throw new ProviderFailure('malformed', '');
  return fits;
}

function imageMime(head: Buffer): string {
  if (head.subarray(1, 4).toString('latin1') === 'PNG') return 'image/png';
  if (head[0] === 0xff && head[1] === 0xd8) return 'image/jpeg';
  return head.subarray(0, 4).toString('latin1') === 'RIFF' ? 'image/webp' : 'application/octet-stream';
}
