import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { closedAddress, closedRanges } from '../../../remote-agent/src/egressAddresses.ts';

describe('egressAddresses', () => {
  const closed: [first: string, last: string, title: string][] = [
    ['0.0.0.0', '0.255.255.255', 'unspecified'],
    ['10.0.0.0', '10.255.255.255', 'private'],
    ['100.64.0.0', '100.127.255.255', 'carrier-grade NAT'],
    ['100.100.100.200', '100.100.100.200', 'cloud metadata'],
    ['127.0.0.0', '127.255.255.255', 'loopback'],
    ['168.63.129.16', '168.63.129.16', 'cloud metadata'],
    ['169.254.0.0', '169.254.255.255', 'link-local'],
    ['169.254.169.254', '169.254.169.254', 'cloud metadata'],
    ['172.16.0.0', '172.31.255.255', 'private'],
    ['192.0.0.0', '192.0.0.255', 'protocol assignments'],
    ['192.0.2.0', '192.0.2.255', 'documentation'],
    ['192.88.99.0', '192.88.99.255', '6to4 relay'],
    ['192.168.0.0', '192.168.255.255', 'private'],
    ['198.18.0.0', '198.19.255.255', 'benchmarking'],
    ['198.51.100.0', '198.51.100.255', 'documentation'],
    ['203.0.113.0', '203.0.113.255', 'documentation'],
    ['224.0.0.0', '239.255.255.255', 'multicast'],
    ['240.0.0.0', '255.255.255.255', 'reserved or broadcast'],
    ['::', '::', 'unspecified'],
    ['::1', '::1', 'loopback'],
    ['::2', '::ffff:ffff', 'IPv4-compatible'],
    ['::127.0.0.1', '::8.8.8.8', 'IPv4-compatible'],
    ['::ffff:0.0.0.0', '::ffff:255.255.255.255', 'IPv4-mapped'],
    ['::ffff:7f00:1', '::ffff:808:808', 'IPv4-mapped'],
    ['64:ff9b::', '64:ff9b::ffff:ffff', 'NAT64'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'local NAT64'],
    ['100::', '100::ffff:ffff:ffff:ffff', 'discard-only'],
    ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', 'Teredo'],
    ['2001:1::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'protocol assignments'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '6to4'],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
    ['5f00::', '5f00:ffff::', 'not global unicast'],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'private'],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'link-local'],
    ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'site-local'],
    ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'multicast'],
    ['1fff::', '1fff:ffff::', 'not global unicast'],
    ['4000::', '7fff::', 'not global unicast'],
    ['8000::', 'fbff::', 'not global unicast'],
  ];
  for (const [first, last, title] of closed) {
    it(`[EGRESS-02] closes ${first} to ${last} as ${title}`, () => {
      assert.equal(closedAddress(first), title);
      assert.equal(closedAddress(last), title);
    });
  }

  it('leaves public addresses open, up to the edges of the ranges', () => {
    const open = [
      ...[
        '1.0.0.0',
        '8.8.8.8',
        '9.255.255.255',
        '11.0.0.0',
        '100.63.255.255',
        '100.128.0.0',
        '126.255.255.255',
      ],
      ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255'],
      ...['192.0.1.0', '192.0.3.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0'],
      ...['223.255.255.255', '2000::', '2001:200::', '2001:4860:4860::8888', '2003::', '2606:4700::1111'],
      ...['3ffe:ffff::', '3fff:1000::'],
    ];
    for (const address of open) assert.equal(closedAddress(address), undefined, address);
  });

  it('[EGRESS-02] closes whatever is no plain address', () => {
    for (const text of [
      '',
      'localhost',
      'fe80::1%eth0',
      '2606:4700::1%0',
      '[::1]',
      '127.1',
      '0x7f000001',
      '8.8.8.8/8',
    ]) {
      assert.equal(closedAddress(text), 'not a plain IP address', text);
    }
  });

  it('[EGRESS-02] closes every IPv4 address that comes inside an IPv6 one', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom('::ffff:', '::', '64:ff9b::'), (address, prefix) => {
        assert.notEqual(closedAddress(prefix + address), undefined);
      }),
    );
  });

  it('is a table of ranges that start where they say', () => {
    for (const { network, prefix } of closedRanges) {
      const type = network.includes(':') ? 'ipv6' : 'ipv4';
      const list = new BlockList();
      list.addSubnet(network, prefix, type);
      assert.ok(list.check(network, type), `${network}/${prefix}`);
      assert.notEqual(closedAddress(network), undefined, network);
    }
  });
});
