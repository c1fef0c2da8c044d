import type { Socket } from 'node:net';
import { BridgeError } from '../../../../protocol/src/bridge.ts';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { fetchLimits, type HostParams, type HostResult } from '../../../../protocol/src/hostCalls.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import {
  dial,
  EgressError,
  systemNetwork,
  type EgressNetwork,
} from '../../../../remote-agent/src/egressDial.ts';
import { findRule, parseRules, type HostRule } from '../../../../remote-agent/src/egressRules.ts';
import { exchange, type WebAnswer } from '../../net/exchange.ts';
import type { ValueRequests, ValueUser } from '../../vault/valueRequests.ts';
import { parseWebAddress, type WebAddress } from '../../../../remote-agent/src/webAddress.ts';
import { toAnyContent, toBytes } from './content.ts';

export interface PluginFetchOptions {
  /** Who asks, and the hosts that a person accepted. */
  readonly user: ValueUser;
  /** Makes the requests to hosts for which a person granted a value of the vault. */
  readonly values: ValueRequests;
  readonly signal: AbortSignal;
  /** Told once for each request, redirects and refusals included. */
  readonly record: (record: EgressRecord) => void;
  readonly now: () => number;
  readonly createId: () => string;
  /** Replaced in tests. */
  readonly network?: EgressNetwork;
  readonly authorities?: string;
  readonly timeoutMs?: number;
}

const { bodyBytes, wholeMs } = fetchLimits;
const mostRedirects = 5;

interface Step {
  readonly address: WebAddress;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

/**
 * What `fetch` of a plugin does. Every address, those of redirects too, is looked up anew in the host list, resolved
 * once, checked, and connected to at exactly what was checked. Nothing of this machine is sent along: no cookie, no
 * proxy, no header that the plugin did not write. Where a person granted a vault value for the host, the extension makes
 * the request and puts it in; such a request comes from no redirect and follows none. Rejects with `BridgeError`.
 */
export async function pluginFetch(
  params: HostParams<'fetch'>,
  options: PluginFetchOptions,
): Promise<HostResult<'fetch'>> {
  const timed = AbortSignal.timeout(options.timeoutMs ?? wholeMs);
  const signal = AbortSignal.any([options.signal, timed]);
  try {
    const rules = parseRules(options.user.hosts);
    let step: Step = {
      address: parseWebAddress(params.url),
      method: params.method,
      headers: toHeaders(params.headers),
      body: params.body === null ? undefined : toBytes(params.body),
    };
    for (let redirects = 0; ; redirects++) {
      const { answer, hasValue } = await request(step, rules, redirects > 0, { ...options, signal });
      const location = redirectOf(answer);
      if (location === undefined || params.redirect === 'manual') return toResult(step, answer, redirects);
      if (params.redirect === 'error') throw new BridgeError('unavailable', 'The answer is a redirect');
      if (hasValue)
        throw new BridgeError(
          'unavailable',
          'The answer is a redirect, and none is followed with a vault value',
        );
      if (redirects >= mostRedirects)
        throw new BridgeError('unavailable', `More than ${mostRedirects} redirects`);
      step = follow(step, answer.status, location);
    }
  } catch (error) {
    throw toBridgeError(error, options.signal, timed);
  }
}

async function request(
  step: Step,
  rules: readonly HostRule[],
  isRedirected: boolean,
  options: PluginFetchOptions,
): Promise<{ answer: WebAnswer; hasValue: boolean }> {
  const { signal, record, now, createId, user, values } = options;
  const { target } = step.address;
  const log = { address: '', receivedBytes: 0 };
  const tell = (verdict: EgressRecord['verdict'], reason: string): void =>
    record({
      jobId: createId(),
      at: now(),
      method: step.method,
      host: target.host,
      port: target.port,
      ...(log.address === '' ? {} : { address: log.address }),
      verdict,
      reason,
      sentBytes: verdict === 'refused' ? 0 : (step.body?.byteLength ?? 0),
      receivedBytes: log.receivedBytes,
    });
  let socket: Socket | undefined;
  try {
    const rule = findRule(rules, target);
    if (!rule) throw new EgressError('refused', 'no rule of the plugin names this host and port');
    const grants = await values.granted(user, target, signal);
    const hasValue = grants.length > 0;
    if (hasValue && isRedirected)
      throw new EgressError(
        'refused',
        'a redirect leads to a host that a vault value is for; ask it directly',
      );
    let answer: WebAnswer;
    if (hasValue) {
      const sent = await values.send(user, step, grants, { limitBytes: bodyBytes, signal });
      log.address = sent.address;
      answer = sent;
    } else {
      socket = await dial(target, rule, options.network ?? systemNetwork, { signal, timeoutMs: wholeMs });
      log.address = socket.remoteAddress ?? '';
      const { authorities } = options;
      answer = await exchange(step, socket, {
        signal,
        limitBytes: bodyBytes,
        ...(authorities === undefined ? {} : { authorities }),
      });
    }
    log.receivedBytes = answer.body.byteLength;
    if (answer.isCut) throw new EgressError('failed', `the answer is longer than ${bodyBytes} bytes`);
    const put = hasValue ? `; put in: ${grants.map(({ label }) => label).join(', ')}` : '';
    tell('allowed', `rule ${rule.text}${put}`);
    return { answer, hasValue };
  } catch (error) {
    const failure = toEgressError(error);
    log.address ||= failure.address ?? '';
    tell(failure.verdict, failure.message);
    throw failure;
  } finally {
    socket?.destroy();
  }
}

/** What the extension says of a request that it was asked to make is about the plugin's own request, and holds no value. */
function toEgressError(error: unknown): EgressError {
  if (error instanceof EgressError) return error;
  const isRefused =
    error instanceof UserError && ['permission-needed', 'unsafe-path', 'unreachable'].includes(error.code);
  return new EgressError(isRefused ? 'refused' : 'failed', errorMessage(error));
}

/**
 * Headers that frame the message, name another sender, or are the browser's to set (Fetch, "forbidden request-header").
 * A cookie is one: whatever a plugin knows of one, none is sent.
 */
const forbidden =
  /^(accept-encoding|connection|content-length|cookie2?|date|expect|forwarded|host|keep-alive|origin|referer|set-cookie|te|trailer|transfer-encoding|upgrade|via|x-forwarded-.*|proxy-.*|sec-.*)$/;

function toHeaders(list: HostParams<'fetch'>['headers']): Record<string, string> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [written, value] of list) {
    const name = written.toLowerCase();
    if (forbidden.test(name)) throw new BridgeError('not-allowed', `A plugin can’t send the header ${name}`);
    headers[name] = value;
  }
  return headers;
}

function redirectOf({ status, headers }: WebAnswer): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? headers['location'] : undefined;
}

/** The next request, as the Fetch standard makes it; what may hold a secret stays with the origin it was written for. */
function follow(step: Step, status: number, location: string): Step {
  const { url } = step.address;
  if (!URL.canParse(location, url)) throw new BridgeError('unavailable', 'The redirect leads to no address');
  const address = parseWebAddress(new URL(location, url).href);
  const becomesGet =
    (status === 303 && step.method !== 'HEAD') ||
    ((status === 301 || status === 302) && step.method === 'POST');
  const isSameOrigin = new URL(url).origin === new URL(address.url).origin;
  const dropped = (name: string): boolean =>
    (becomesGet && name.startsWith('content-')) || (!isSameOrigin && !harmless.has(name));
  return {
    address,
    method: becomesGet ? 'GET' : step.method,
    headers: Object.fromEntries(Object.entries(step.headers).filter(([name]) => !dropped(name))),
    body: becomesGet ? undefined : step.body,
  };
}

const harmless: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-language',
  'content-type',
  'user-agent',
]);

function toResult(step: Step, answer: WebAnswer, redirects: number): HostResult<'fetch'> {
  const headers = Object.entries(answer.headers).filter(([name]) => !/^set-cookie2?$/.test(name));
  return {
    status: answer.status,
    statusText: answer.statusText.slice(0, 200),
    url: step.address.url,
    redirected: redirects > 0,
    headers: Object.fromEntries(headers),
    body: toAnyContent(answer.body),
  };
}

function toBridgeError(error: unknown, signal: AbortSignal, timed: AbortSignal): BridgeError {
  if (error instanceof BridgeError) return error;
  if (signal.aborted) return new BridgeError('cancelled', 'The request was cancelled');
  if (error instanceof UserError) return new BridgeError('not-allowed', error.message);
  if (timed.aborted) return new BridgeError('timeout', 'No whole answer in time');
  if (error instanceof EgressError) {
    const isLong = error.message.startsWith('the answer is longer');
    const code = error.verdict === 'refused' ? 'not-allowed' : isLong ? 'too-large' : 'unavailable';
    return new BridgeError(code, `This address can’t be fetched: ${error.message}`);
  }
  return new BridgeError('internal', 'The request failed');
}
