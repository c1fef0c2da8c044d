import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  entriesAbout,
  fingerprint,
  judgeHostKey,
  knownKeyTypes,
  parseKnownHosts,
  type LookedUp,
} from '../../../../language-server/src/runners/ssh/knownHosts.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const fixtures = join(import.meta.dirname, '../../../../test-fixtures/openssh-known-hosts');
const publishedFile = join(fixtures, 'known_hosts');
const published = readFileSync(publishedFile, 'utf8');

const firstInvalidLine = published.split('\n').indexOf('# Some invalid lines') + 1;

const keyText = (name: string) => {
  const [type = '', key = ''] = readFileSync(join(fixtures, `${name}.pub`), 'utf8').split(' ');
  return `${type} ${key.trim()}`;
};
const keyOf = (name: string) => Buffer.from(keyText(name).split(' ')[1] ?? '', 'base64');
const at = (host: string, port = 22): LookedUp => ({ host, port });

/** The line numbers that `ssh-keygen -F` finds; none where it finds nothing. */
function oracle(host: string, file: string): number[] {
  try {
    const found = execFileSync('ssh-keygen', ['-F', host, '-f', file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return [...found.matchAll(/^# Host .* found: line ([0-9]+)/gm)].map((match) => Number(match[1]));
  } catch {
    return [];
  }
}

const linesOf = (text: string, host: string) =>
  entriesAbout(parseKnownHosts(text, 'f'), at(host)).map(({ where }) => Number(where.split(':')[1]));

describe('known_hosts', () => {
  const folder = useTemporaryFolder();

  it('reads every good line of OpenSSH’s own test data, and no bad one [SSH-04]', () => {
    const entries = parseKnownHosts(published, 'known_hosts');
    const good = published
      .split('\n')
      .slice(0, firstInvalidLine)
      .filter((line) => line !== '' && !line.startsWith('#'));
    assert.equal(entries.length, good.length);
    assert.deepEqual(
      entries.filter(({ marker }) => marker !== 'none').map(({ marker }) => marker),
      ['revoked', 'cert-authority'],
    );
  });

  for (const host of [
    'sisyphus.example.com',
    'prometheus.example.com',
    'anything.example.com',
    'example.com',
    '192.0.2.1',
    '192.0.2.99',
    '192.0.3.1',
    '2001:db8::1',
    '2001:db8::2',
    'unknown.test',
  ]) {
    it(`finds the lines of ${host} that ssh-keygen -F finds [SSH-04]`, () => {
      // ssh-keygen also names the invalid lines at the end, whose keys nothing can be checked against.
      const found = oracle(host, publishedFile).filter((line) => line < firstInvalidLine);
      assert.deepEqual(linesOf(published, host), found);
    });
  }

  it('matches patterns as ssh-keygen -F does, for patterns and names at random [SSH-04]', () => {
    const file = join(folder(), 'known_hosts');
    const letter = fc.constantFrom('a', 'b', '.', '*', '?');
    const pattern = fc
      .tuple(fc.constantFrom('', '', '!'), fc.array(letter, { minLength: 1, maxLength: 6 }))
      .map(([sign, letters]) => sign + letters.join(''));
    const name = fc
      .array(fc.constantFrom('a', 'b', '.'), { minLength: 1, maxLength: 6 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), name, (patterns, host) => {
        const text = `${patterns.join(',')} ${keyText('ed25519_1')}\n`;
        writeFileSync(file, text);
        assert.deepEqual(linesOf(text, host), oracle(host, file));
      }),
      { numRuns: 150 },
    );
  });

  it('finds hashed names as ssh-keygen -H writes them [SSH-04]', () => {
    const file = join(folder(), 'known_hosts');
    writeFileSync(file, `Some.Host ${keyText('ed25519_1')}\n[other.host]:2222 ${keyText('ed25519_2')}\n`);
    execFileSync('ssh-keygen', ['-H', '-f', file], { stdio: 'ignore' });
    const entries = parseKnownHosts(readFileSync(file, 'utf8'), file);
    assert.deepEqual(
      entries.map(({ names }) => names.kind),
      ['hashed', 'hashed'],
    );
    assert.equal(judgeHostKey(entries, at('SOME.host'), keyOf('ed25519_1')).kind, 'trusted');
    assert.equal(judgeHostKey(entries, at('other.host', 2222), keyOf('ed25519_2')).kind, 'trusted');
    assert.equal(judgeHostKey(entries, at('other.host', 2223), keyOf('ed25519_2')).kind, 'unknown');
  });

  const one = 'ed25519_1';
  const host = at('127.0.0.1', 42022);
  const cases: readonly (readonly [title: string, file: string, verdict: string])[] = [
    ['the name with its port', `[127.0.0.1]:42022 ${keyText(one)}`, 'trusted'],
    ['the plain name, for want of one with the port', `127.0.0.1 ${keyText(one)}`, 'trusted'],
    [
      'the plain name with another key: nothing is known of the port',
      `127.0.0.1 ${keyText('ed25519_2')}`,
      'unknown',
    ],
    ['another key', `[127.0.0.1]:42022 ${keyText('ed25519_2')}`, 'changed'],
    ['a key of another type only', `[127.0.0.1]:42022 ${keyText('rsa_1')}`, 'changed'],
    [
      'the right key after a wrong one',
      `[127.0.0.1]:42022 ${keyText('ed25519_2')}\n[127.0.0.1]:42022 ${keyText(one)}`,
      'trusted',
    ],
    [
      'a revoked key, and the same as a good one [K03]',
      `[127.0.0.1]:42022 ${keyText(one)}\n@revoked * ${keyText(one)}`,
      'revoked',
    ],
    [
      'a revoked key before the good one [K03]',
      `@revoked * ${keyText(one)}\n[127.0.0.1]:42022 ${keyText(one)}`,
      'revoked',
    ],
    [
      'another key revoked',
      `@revoked * ${keyText('ed25519_2')}\n[127.0.0.1]:42022 ${keyText(one)}`,
      'trusted',
    ],
    [
      'the name with its port excluded: the plain name is excluded too',
      `![127.0.0.1]:42022,* ${keyText(one)}`,
      'unknown',
    ],
    ['the plain name excluded', `!127.0.0.1,*,[127.0.0.1]:42022 ${keyText(one)}`, 'unknown'],
    ['a certificate authority with this very key', `@cert-authority * ${keyText(one)}`, 'unknown'],
    [
      'CR LF, leading blanks, a comment, no last line feed',
      `\r\n  [127.0.0.1]:42022   ${keyText(one)} who@where\r`,
      'trusted',
    ],
    ['a marker that is none', `@trusted [127.0.0.1]:42022 ${keyText(one)}`, 'unknown'],
    [
      'a type that is not the key’s',
      `[127.0.0.1]:42022 ssh-rsa ${keyText(one).split(' ')[1] ?? ''}`,
      'unknown',
    ],
    ['nothing', '', 'unknown'],
  ];
  for (const [title, file, verdict] of cases) {
    it(`judges ${title}: ${verdict} [SSH-04]`, () => {
      assert.equal(judgeHostKey(parseKnownHosts(file, 'f'), host, keyOf(one)).kind, verdict);
    });
  }

  it('says that only a certificate authority is known [SSH-04]', () => {
    const verdict = judgeHostKey(parseKnownHosts(`@cert-authority * ${keyText(one)}`, 'f'), host, keyOf(one));
    assert.deepEqual(verdict, { kind: 'unknown', hasAuthority: true });
  });

  it('looks a host up by its HostKeyAlias alone [SSH-04]', () => {
    const entries = parseKnownHosts(`alias ${keyText(one)}\n[127.0.0.1]:42022 ${keyText('ed25519_2')}`, 'f');
    assert.equal(judgeHostKey(entries, { ...host, alias: 'Alias' }, keyOf(one)).kind, 'trusted');
    assert.equal(judgeHostKey(entries, { ...host, alias: 'alias' }, keyOf('ed25519_2')).kind, 'changed');
  });

  it('knows the types of the keys of a host, for asking for those first [K04]', () => {
    const text = `[127.0.0.1]:42022 ${keyText('rsa_1')}\n@revoked * ${keyText(one)}\nother ${keyText('ecdsa_1')}`;
    assert.deepEqual([...knownKeyTypes(parseKnownHosts(text, 'f'), host)], ['ssh-rsa']);
  });

  it('shows fingerprints as ssh-keygen -l does [SSH-04]', () => {
    for (const name of ['ed25519_1', 'rsa_3', 'ecdsa_2']) {
      const shown = execFileSync('ssh-keygen', ['-l', '-f', join(fixtures, `${name}.pub`)], {
        encoding: 'utf8',
      });
      assert.equal(fingerprint(keyOf(name)), shown.split(' ')[1]);
    }
  });

  it('takes no time to speak of for a pattern made to take long [SSH-04]', () => {
    const pattern = `${'a*'.repeat(200)}b`;
    const entries = parseKnownHosts(`${pattern} ${keyText(one)}`, 'f');
    assert.equal(judgeHostKey(entries, at('a'.repeat(250)), keyOf(one)).kind, 'unknown');
  });

  it('refuses a hash of another length, which could match nothing [SSH-04]', () => {
    const sum = createHmac('sha1', 'salt').update('host').digest('base64');
    const line = (hashed: string) => `${hashed} ${keyText(one)}`;
    const salt = Buffer.from('salt').toString('base64');
    assert.equal(parseKnownHosts(line(`|1|${salt}|${sum}`), 'f').length, 1);
    for (const bad of [`|1|${salt}|AAAA`, `|2|${salt}|${sum}`, `|1|${salt}`, `|1|${salt}|${sum}|x`])
      assert.equal(parseKnownHosts(line(bad), 'f').length, 0, bad);
  });
});
