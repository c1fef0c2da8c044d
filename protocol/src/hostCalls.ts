import * as z from 'zod/mini';
import { bridgeMethods } from './bridge.ts';

const hostName = z.string().check(z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/));
/** Visible ASCII and spaces: no line can end within one (RFC 9110 §5.5). */
const hostValue = z.string().check(z.regex(/^[\t\x20-\x7e]{0,8000}$/));
const content = z.strictObject({ content: z.string(), encoding: z.enum(['text', 'base64']) });

/** Of one `fetch`, redirects included. */
export const fetchLimits = {
  /** Of one answer; with its encoding it must fit one text. */
  bodyBytes: 2 * 1024 * 1024,
  wholeMs: 30_000,
} as const;

/** What a bridge method takes and gives, without who answers it. */
function same<P, R>({ params, result }: { readonly params: P; readonly result: R }) {
  return { params, result };
}

/**
 * The host functions: what a plugin may ask the engine for. `storage` and `generate` are the bridge's own methods, so a
 * page and a plugin have the same words.
 */
export const hostCalls = {
  fetch: {
    params: z.strictObject({
      url: z.string().check(z.maxLength(8000)),
      method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
      headers: z.array(z.tuple([hostName, hostValue])).check(z.maxLength(64)),
      body: z.nullable(content),
      redirect: z.enum(['follow', 'manual', 'error']),
    }),
    result: z.strictObject({
      status: z.int(),
      statusText: z.string(),
      url: z.string(),
      redirected: z.boolean(),
      headers: z.record(z.string(), z.string()),
      /** `text` where the bytes are UTF-8. */
      body: content,
    }),
  },
  'storage.get': same(bridgeMethods['files.get']),
  'storage.put': same(bridgeMethods['files.put']),
  'storage.list': same(bridgeMethods['files.list']),
  'storage.delete': same(bridgeMethods['files.delete']),
  'storage.quota': same(bridgeMethods['files.quota']),
  'generate.text': same(bridgeMethods['generate.text']),
  'generate.image': same(bridgeMethods['generate.image']),
  'generate.speech': same(bridgeMethods['generate.speech']),
  'generate.embedding': same(bridgeMethods['generate.embedding']),
} as const;
export type HostCallName = keyof typeof hostCalls;
export type HostParams<N extends HostCallName> = z.infer<(typeof hostCalls)[N]['params']>;
export type HostResult<N extends HostCallName> = z.infer<(typeof hostCalls)[N]['result']>;
