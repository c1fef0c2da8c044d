import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hostPattern } from '../../../protocol/src/manifests.ts';
import { parseAbsoluteForm } from '../../../remote-agent/src/egressHeaders.ts';
import { addressFault, findRule, parseRules, parseTarget } from '../../../remote-agent/src/egressRules.ts';

const listed = [
  'allowed.com',
  '*.wild.org',
  '93.184.216.34',
  '[2606:4700::1]:8443',
  'localhost:8080',
  'api.test:9000',
];
const rules = parseRules(listed);
const ruleFor = (text: string, defaultPort?: number): string | undefined => {
  const target = parseTarget(text, defaultPort);
  return target && findRule(rules, target)?.text;
};

describe('egressRules', () => {
  const through: [asked: string, rule: string][] = [
    ['allowed.com:443', 'allowed.com'],
    ['allowed.com:80', 'allowed.com'],
    ['ALLOWED.Com:443', 'allowed.com'],
    ['allowed.com.:443', 'allowed.com'],
    ['a.wild.org:443', '*.wild.org'],
    ['a.b.wild.org:80', '*.wild.org'],
    ['93.184.216.34:443', '93.184.216.34'],
    ['[2606:4700::1]:8443', '[2606:4700::1]:8443'],
    ['[2606:4700:0:0:0:0:0:1]:8443', '[2606:4700::1]:8443'],
    ['localhost:8080', 'localhost:8080'],
    ['api.test:9000', 'api.test:9000'],
  ];
  for (const [asked, rule] of through) {
    it(`lets ${asked} through by ${rule}`, () => assert.equal(ruleFor(asked), rule));
  }

  /** Spellings that other tools took for a listed host, or for an address that is not closed. */
  const kept = [
    // Other hosts and ports.
    ...[
      'evil.com:443',
      'allowed.com.evil.com:443',
      'notallowed.com:443',
      'xallowed.com:443',
      'sub.allowed.com:443',
    ],
    ...['wild.org:443', '.wild.org:443', 'awild.org:443', 'wild.org.evil.com:443', 'a.wild.org.:444'],
    ...[
      'allowed.com:8443',
      'allowed.com:22',
      'api.test:443',
      'api.test:9001',
      'localhost:80',
      'localhost:443',
    ],
    ...['[2606:4700::1]:443', '[2606:4700::2]:8443', '93.184.216.35:443'],
    // Loopback, metadata and private addresses in all their spellings.
    ...[
      '127.0.0.1:80',
      '127.1:80',
      '127.0.1:80',
      '0:80',
      '0.0.0.0:80',
      '2130706433:80',
      '0x7f000001:80',
      '0x7f.1:80',
    ],
    ...['0177.0.0.1:80', '0177.0.0.01:80', '127.0.0.1.:80', '[::1]:80', '[::]:80', '[::ffff:127.0.0.1]:80'],
    ...['[::ffff:7f00:1]:80', '[0:0:0:0:0:ffff:127.0.0.1]:80', '[64:ff9b::7f00:1]:80', '[fe80::1%25eth0]:80'],
    ...['[fe80::1%eth0]:80', '169.254.169.254:80', '2852039166:80', '0xa9fea9fe:80', '[::ffff:a9fe:a9fe]:80'],
    ...[
      'metadata.google.internal:80',
      '10.0.0.1:80',
      '192.168.1.1:80',
      '[fd00::1]:80',
      'localhost.localdomain:8080',
    ],
    // Listed addresses in other words.
    ...[
      '1572395042:443',
      '0x5db8d822:443',
      '0135.0270.0330.042:443',
      '93.184.55330:443',
      '[::ffff:93.184.216.34]:443',
    ],
    ...['93.184.216.034:443', '93.184.216.34.:444'],
    // User names, escapes, control characters, other scripts, other forms.
    ...['allowed.com@evil.com:443', 'evil.com:443@allowed.com:443', 'allowed.com:443@evil.com:443'],
    ...[
      'allowed.com%00.evil.com:443',
      'allowed.com\0.evil.com:443',
      'evil.com%2eallowed.com:443',
      'allowed%2ecom:443',
    ],
    ...[
      'allowed.com\t:443',
      ' allowed.com:443',
      'allowed.com :443',
      'al\tlowed.com:443',
      'allowed.com\r\nX: y:443',
    ],
    ...['allowed。com:443', 'ａllowed.com:443', 'аllowed.com:443', 'allowed.com\u200b:443', '①②⑦.⓪.⓪.①:80'],
    ...[
      'allowed.com..:443',
      '..allowed.com:443',
      'allowed..com:443',
      '-allowed.com:443',
      'allowed.com/:443',
      '*.wild.org:443',
    ],
    ...[
      'allowed.com\\.evil.com:443',
      'http://allowed.com:443',
      '//allowed.com:443',
      'allowed.com#:443',
      'allowed.com?:443',
    ],
    // Ports.
    ...[
      'allowed.com',
      'allowed.com:',
      'allowed.com:0',
      'allowed.com:0443',
      'allowed.com:65979',
      'allowed.com:443:443',
    ],
    ...[
      'allowed.com:+443',
      'allowed.com:4 43',
      'allowed.com:0x1bb',
      'allowed.com:４４３',
      'allowed.com:443/',
    ],
    ...[
      `${'a'.repeat(64)}.wild.org:443`,
      `${'a.'.repeat(200)}wild.org:443`,
      ':443',
      '[]:443',
      '[allowed.com]:443',
    ],
  ];
  for (const asked of kept) {
    it(`[EGRESS-01] keeps ${JSON.stringify(asked)} in`, () => assert.equal(ruleFor(asked), undefined));
  }

  const urls: [url: string, rule: string | undefined][] = [
    ['http://allowed.com/', 'allowed.com'],
    ['http://allowed.com', 'allowed.com'],
    ['HTTP://Allowed.com:80/a?b', 'allowed.com'],
    ['http://allowed.com?a=b', 'allowed.com'],
    ['https://allowed.com/', undefined],
    ['ftp://allowed.com/', undefined],
    ['file:///etc/passwd', undefined],
    ['/', undefined],
    ['*', undefined],
    ['allowed.com:80', undefined],
    ['http:allowed.com', undefined],
    ['http:/allowed.com', undefined],
    ['http:///allowed.com/', undefined],
    ['http://allowed.com@evil.com/', undefined],
    ['http://evil.com@allowed.com/', undefined],
    ['http://user:secret@allowed.com/', undefined],
    ['http://allowed.com\\@evil.com/', undefined],
    ['http://evil.com\\@allowed.com/', undefined],
    ['http://evil.com#@allowed.com/', undefined],
    ['http://allowed.com/#x', undefined],
    ['http://evil.com?@allowed.com/', undefined],
    ['http://allowed.com/a b', undefined],
    ['http://allowed.com/a\r\nHost: evil.com', undefined],
    ['http://127.0.0.1:80/', undefined],
    ['http://[::1]/', undefined],
  ];
  for (const [url, rule] of urls) {
    it(`[EGRESS-01] ${rule ? 'takes' : 'keeps in'} the request line ${JSON.stringify(url)}`, () => {
      const asked = parseAbsoluteForm(url);
      assert.equal(asked && findRule(rules, asked.target)?.text, rule);
    });
  }

  it('asks for the path that was asked for', () => {
    assert.equal(parseAbsoluteForm('http://allowed.com')?.path, '/');
    assert.equal(parseAbsoluteForm('http://allowed.com?a=b')?.path, '/?a=b');
    assert.equal(parseAbsoluteForm('http://allowed.com:80//x/../y?z=http://w')?.path, '//x/../y?z=http://w');
  });

  it('[EGRESS-01] lets nothing through an empty list', () => {
    assert.equal(findRule(parseRules([]), { host: 'allowed.com', isAddress: false, port: 443 }), undefined);
  });

  it('reads every host that a manifest may name, or refuses the whole list', () => {
    for (const text of [
      'example.org',
      '*.example.org:8443',
      '_dmarc.example.org',
      '1.2.3.4',
      '[::1]:80',
      'localhost',
    ]) {
      assert.match(text, hostPattern);
      assert.equal(parseRules([text])[0]?.text, text);
    }
    for (const text of [
      '',
      '*',
      '*.',
      '*.1.2.3.4',
      '2130706433',
      '0x7f.1',
      'example.org:0',
      'example.org:99999',
      '[1.2.3.4]',
      'a.*.org',
      'http://a.org',
    ]) {
      assert.throws(() => parseRules(['fine.org', text]), { code: 'bad-message' }, text);
    }
  });

  it('[EGRESS-01] lets through no name but the listed ones and those below a wildcard', () => {
    const name = fc.domain();
    fc.assert(
      fc.property(name, name, (own, asked) => {
        const exact = parseRules([own]);
        const below = parseRules([`*.${own}`]);
        const target = (host: string) => ({ host, isAddress: false, port: 443 });
        assert.equal(findRule(exact, target(asked)) !== undefined, own === asked);
        assert.equal(findRule(below, target(asked)) !== undefined, asked.endsWith(`.${own}`));
        assert.equal(findRule(below, target(`${asked}.${own}`)) !== undefined, true);
        assert.equal(
          findRule(below, target(`${asked}${own}`)) !== undefined,
          `${asked}${own}`.endsWith(`.${own}`),
        );
      }),
    );
  });

  describe('addresses', () => {
    const rows: [rule: string, addresses: string[], open: boolean][] = [
      ['allowed.com', ['93.184.216.34'], true],
      ['allowed.com', ['93.184.216.34', '2606:4700::1'], true],
      ['allowed.com', [], false],
      ['allowed.com', ['127.0.0.1'], false],
      ['allowed.com', ['93.184.216.34', '10.0.0.1'], false],
      ['allowed.com', ['93.184.216.34', '::1'], false],
      ['allowed.com', ['169.254.169.254'], false],
      ['allowed.com', ['::ffff:93.184.216.34'], false],
      ['allowed.com', ['fe80::1%eth0'], false],
      ['*.wild.org', ['192.168.1.1'], false],
      ['10.0.0.1', ['10.0.0.1'], true],
      ['10.0.0.1', ['10.0.0.2'], false],
      ['[::1]', ['::1'], true],
      ['[::ffff:127.0.0.1]', ['::ffff:127.0.0.1'], true],
      ['localhost', ['127.0.0.1', '::1'], true],
      ['localhost', ['127.0.0.1', '10.0.0.1'], false],
      ['localhost', ['93.184.216.34'], false],
      ['*.localhost', ['127.0.0.1'], false],
    ];
    for (const [rule, addresses, open] of rows) {
      it(`[EGRESS-02] of ${rule}: [${addresses.join(', ')}] is ${open ? 'open' : 'closed'}`, () => {
        const [parsed] = parseRules([rule]);
        assert.equal(addressFault(parsed!, addresses) === undefined, open);
      });
    }
  });
});
