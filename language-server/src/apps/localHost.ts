import { closedAddress } from '../../../remote-agent/src/egressAddresses.ts';
import { parseTarget } from '../../../remote-agent/src/egressRules.ts';

/**
 * True where a listed host is, or may be by its spelling, on this machine or the local network: addresses that are not
 * public, names without a dot, and the names that home and office networks use (RFC 6761, 6762, 8375; ICANN `.internal`).
 * What can't be read counts as local.
 */
export function isLocalHost(host: string): boolean {
  const isWild = host.startsWith('*.');
  const target = parseTarget(isWild ? host.slice(2) : host, 443);
  if (!target) return true;
  if (target.isAddress) return closedAddress(target.host) !== undefined;
  if (!target.host.includes('.')) return true;
  return localEndings.some((ending) => `.${target.host}`.endsWith(ending));
}

const localEndings = [
  '.localhost',
  '.localdomain',
  '.local',
  '.internal',
  '.intranet',
  '.lan',
  '.home',
  '.corp',
  '.home.arpa',
  '.in-addr.arpa',
  '.ip6.arpa',
];
