import { BlockList, isIP } from 'node:net';

/** An address range that no listed name may lead to, and what it is for people. */
export interface AddressRange {
  readonly network: string;
  readonly prefix: number;
  readonly title: string;
}

/**
 * The ranges of IANA's special-purpose registries (RFC 6890 and its updates) that are not the public internet, and the
 * cloud metadata services that lie outside them. IPv6 is closed but for global unicast (2000::/3, RFC 4291 §2.4), less
 * the parts of it that embed or stand for something else. More special rows come first: the first match is named.
 */
export const closedRanges: readonly AddressRange[] = [
  { network: '0.0.0.0', prefix: 8, title: 'unspecified' },
  { network: '10.0.0.0', prefix: 8, title: 'private' },
  { network: '100.100.100.200', prefix: 32, title: 'cloud metadata' },
  { network: '100.64.0.0', prefix: 10, title: 'carrier-grade NAT' },
  { network: '127.0.0.0', prefix: 8, title: 'loopback' },
  { network: '168.63.129.16', prefix: 32, title: 'cloud metadata' },
  { network: '169.254.169.254', prefix: 32, title: 'cloud metadata' },
  { network: '169.254.0.0', prefix: 16, title: 'link-local' },
  { network: '172.16.0.0', prefix: 12, title: 'private' },
  { network: '192.0.0.0', prefix: 24, title: 'protocol assignments' },
  { network: '192.0.2.0', prefix: 24, title: 'documentation' },
  { network: '192.88.99.0', prefix: 24, title: '6to4 relay' },
  { network: '192.168.0.0', prefix: 16, title: 'private' },
  { network: '198.18.0.0', prefix: 15, title: 'benchmarking' },
  { network: '198.51.100.0', prefix: 24, title: 'documentation' },
  { network: '203.0.113.0', prefix: 24, title: 'documentation' },
  { network: '224.0.0.0', prefix: 4, title: 'multicast' },
  { network: '240.0.0.0', prefix: 4, title: 'reserved or broadcast' },
  { network: '::', prefix: 128, title: 'unspecified' },
  { network: '::1', prefix: 128, title: 'loopback' },
  { network: '::ffff:0:0', prefix: 96, title: 'IPv4-mapped' },
  { network: '::', prefix: 96, title: 'IPv4-compatible' },
  { network: '64:ff9b::', prefix: 96, title: 'NAT64' },
  { network: '64:ff9b:1::', prefix: 48, title: 'local NAT64' },
  { network: '100::', prefix: 64, title: 'discard-only' },
  { network: '2001::', prefix: 32, title: 'Teredo' },
  { network: '2001::', prefix: 23, title: 'protocol assignments' },
  { network: '2001:db8::', prefix: 32, title: 'documentation' },
  { network: '2002::', prefix: 16, title: '6to4' },
  { network: '3fff::', prefix: 20, title: 'documentation' },
  { network: 'fc00::', prefix: 7, title: 'private' },
  { network: 'fe80::', prefix: 10, title: 'link-local' },
  { network: 'fec0::', prefix: 10, title: 'site-local' },
  { network: 'ff00::', prefix: 8, title: 'multicast' },
  { network: '::', prefix: 3, title: 'not global unicast' },
  { network: '4000::', prefix: 2, title: 'not global unicast' },
  { network: '8000::', prefix: 1, title: 'not global unicast' },
];

interface CheckedRange {
  readonly family: 4 | 6;
  readonly title: string;
  readonly list: BlockList;
}

const checkedRanges: readonly CheckedRange[] = closedRanges.map(({ network, prefix, title }) => {
  const family = isIP(network) === 4 ? 4 : 6;
  const list = new BlockList();
  list.addSubnet(network, prefix, family === 4 ? 'ipv4' : 'ipv6');
  return { family, title, list };
});

/** What kind of closed address this is, or undefined for a public one. Whatever is no plain IP address is closed. */
export function closedAddress(address: string): string | undefined {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return 'not a plain IP address';
  const type = family === 4 ? 'ipv4' : 'ipv6';
  return checkedRanges.find((range) => range.family === family && range.list.check(address, type))?.title;
}
