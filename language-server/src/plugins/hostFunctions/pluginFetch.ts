import type { Socket } from 'node:net';
import { BridgeError } from '../../../../protocol/src/bridge.ts';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import type { HostParams, HostResult } from '../../../../protocol/src/hostCalls.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import {
  dial,
  EgressError,
  systemNetwork,
  type EgressNetwork,
} from '../../../../remote-agent/src/egressDial.ts';
import { findRule, parseRules, type HostRule } from '../../../../remote-agent/src/egressRules.ts';
import { exchange, type WebAnswer } from '../../net/exchange.ts';
import { parseWebAddress, type WebAddress } from '../../../../remote-agent/src/webAddress.ts';
import { toAnyContent, toBytes } from './content.ts';

export interface PluginFetchOptions {
  /** The hosts that a person accepted. */
  readonly hosts: readonly string[];
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

/** Of one answer; with its encoding it must fit one text. */
export const fetchBodyBytes = 2 * 1024 * 1024;
const wholeTimeMs = 30_000;
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
 * proxy, no header that the plugin did not write. Rejects with `BridgeError`.
 */
export async function pluginFetch(
  params: HostParams<'fetch'>,
  options: PluginFetchOptions,
): Promise<HostResult<'fetch'>> {
  const timed = AbortSignal.timeout(options.timeoutMs ?? wholeTimeMs);
  const signal = AbortSignal.any([options.signal, timed]);
  try {
    const rules = parseRules(options.hosts);
    let step: Step = {
      address: parseWebAddress(params.url),
      method: params.method,
      headers: toHeaders(params.headers),
      body: params.body === null ? undefined : toBytes(params.body),
    };
    for (let redirects = 0; ; redirects++) {
      const answer = await request(step, rules, { ...options, signal });
      const location = redirectOf(answer);
      if (location === undefined || params.redirect === 'manual') return toResult(step, answer, redirects);
      if (params.redirect === 'error') throw new BridgeError('unavailable', 'The answer is a redirect');
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
  { signal, record, now, createId, network = systemNetwork, authorities }: PluginFetchOptions,
): Promise<WebAnswer> {
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
    socket = await dial(target, rule, network, { signal, timeoutMs: wholeTimeMs });
    log.address = socket.remoteAddress ?? '';
    const answer = await exchange(step, socket, {
      signal,
      limitBytes: fetchBodyBytes,
      ...(authorities === undefined ? {} : { authorities }),
    });
    log.receivedBytes = answer.body.byteLength;
    if (answer.isCut) throw new EgressError('failed', `the answer is longer than ${fetchBodyBytes} bytes`);
    tell('allowed', `rule ${rule.text}`);
    return answer;
  } catch (error) {
    const failure = error instanceof EgressError ? error : new EgressError('failed', errorMessage(error));
    log.address ||= failure.address ?? '';
    tell(failure.verdict, failure.message);
    throw failure;
  } finally {
    socket?.destroy();
  }
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
