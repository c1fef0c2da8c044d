import { UserError } from '../../protocol/src/errors.ts';
import { parseTarget, type Target } from './egressRules.ts';

/** An address that may be asked for: `http` or `https`, no user name, a host that is spelt in one way only. */
export interface WebAddress {
  /** Canonical, without fragment. */
  readonly url: string;
  readonly isTls: boolean;
  readonly target: Target;
}

/** Reads an address strictly. Throws `unsafe-path` with what is wrong; nothing is resolved and no rule is looked at. */
export function parseWebAddress(text: string): WebAddress {
  if (!URL.canParse(text)) throw refusedAddress('it is no whole URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refusedAddress('only http and https are spoken');
  if (url.username !== '' || url.password !== '') throw refusedAddress('it holds a user name or password');
  url.hash = '';
  const isTls = url.protocol === 'https:';
  const target = parseTarget(url.host, isTls ? 443 : 80);
  if (!target) throw refusedAddress('its host is not a plain name or address');
  url.hostname = target.host.includes(':') ? `[${target.host}]` : target.host;
  return { url: url.href, isTls, target };
}

export function refusedAddress(why: string): UserError {
  return new UserError('unsafe-path', `This address can’t be fetched: ${why}`, {});
}
