import assert from 'node:assert/strict';
import { checkHost, isSharedSuffix } from '../../../../language-server/src/manifests/hosts.ts';
import type { Problem } from '../../../../language-server/src/project/model.ts';

function codesOf(host: string): string[] {
  const found: Problem[] = [];
  checkHost({ start: 0, end: 0 }, host, (problem) => found.push(problem));
  return found.map((each) => each.code);
}

describe('checkHost [MAN-06]', () => {
  const sound = [
    'api.example.org',
    'api.example.org:8443',
    '*.example.org',
    '*.example.co.uk',
    '*.t.co',
    '*.mine.github.io',
    'localhost:1',
    '10.0.0.1',
    '169.254.169.254:80',
    '[::1]',
    '[fe80::1]:65535',
    '[::ffff:10.0.0.1]',
    'xn--bse-sna.example',
    '_dmarc.example.org',
    'a1.2b',
  ];
  for (const host of sound) it(`takes ${host}`, () => assert.deepEqual(codesOf(host), []));

  const refused: Readonly<Record<string, readonly string[]>> = {
    'any-host': ['*', '*.', '*:443', '*.*', '.'],
    'broad-host': [
      '*.com',
      '*.org:443',
      '*.co.uk',
      '*.com.au',
      '*.github.io',
      '*.amazonaws.com',
      '*.eu-west-1.compute.amazonaws.com',
      '*.s3.us-east-2.amazonaws.com',
      '*.windows.net',
      '*.workers.dev',
      '*.nip.io',
      '*.localhost',
      '*.internal',
    ],
    'host-range': ['10.0.0.0/8', '192.168.*', '10.0.0.1-20', '[fd00::]/8', '::/0'],
    'bad-port': ['a.org:0', 'a.org:65536', 'a.org:99999', 'a.org:1-2', 'a.org:', 'a.org:*', '[::1]:0'],
    'bad-host': [
      '',
      ' ',
      'a b',
      'A.org',
      'a.org.',
      'http://a.org',
      'a.org/x',
      'u@a.org',
      'a..org',
      '.a.org',
      '-',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.1',
      '1.2.3.4.5',
      '256.1.1.1',
      '*.10.0.0.1',
      'a.*.org',
      'x*.org',
      '[::1',
      '::1',
      '[1::2::3]',
      '[12345::]',
      '[:]',
      'a.org\u0000',
      'a\u00ad.org',
      'ｅxample.org',
      'a.org:443:443',
    ],
  };
  for (const [code, hosts] of Object.entries(refused)) {
    for (const host of hosts) {
      it(`refuses ${JSON.stringify(host)} as ${code}`, () => assert.deepEqual(codesOf(host), [code]));
    }
  }

  it('knows suffixes under which strangers get names', () => {
    for (const suffix of ['com', 'ac.jp', 'gov.uk', 'cloudfront.net', 'googleapis.com'])
      assert.ok(isSharedSuffix(suffix), suffix);
    for (const suffix of ['example.com', 'bbc.co.uk', 'mine.s3.amazonaws.com'])
      assert.ok(!isSharedSuffix(suffix), suffix);
  });
});
