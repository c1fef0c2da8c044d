import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removedMark } from '../../../protocol/src/scrub/scrubber.ts';
import { createPluginHarness, type PluginHarness } from '../../support/pluginHost.ts';
import { PluginValues, pluginToken as token } from '../../support/pluginValues.ts';
import { createTestAuthority, echo, type Answer } from '../../support/secureOrigin.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

/** What a plugin and the servers that it talks to try, to get at a value that goes into its requests. */
const url = 'https://api.example.org/';
const bearer = `Bearer ${token}`;
const bytes = Buffer.from(token);

/** How a server could send the value back. */
const spellings: readonly (readonly [string, string])[] = [
  ['as it is', token],
  ['in JSON', JSON.stringify({ token })],
  ['in JSON with escaped slashes', JSON.stringify({ token }).replaceAll('/', '\\/')],
  ['in an address', encodeURIComponent(token)],
  ['in a form', new URLSearchParams({ token }).toString()],
  ['in HTML', `<p>${token.replaceAll('&', '&amp;')}</p>`],
  ['in Base64', bytes.toString('base64')],
  ['in Base64, one byte in', Buffer.from(`x${token}`).toString('base64')],
  ['in Base64, two bytes in', Buffer.from(`xy${token}`).toString('base64')],
  ['in base64url', bytes.toString('base64url')],
  ['as the whole header in Base64', Buffer.from(bearer).toString('base64')],
  ['in hexadecimal', bytes.toString('hex')],
  ['reversed', Array.from(token).reverse().join('')],
  ['over two lines', `${token.slice(0, 9)}\n${token.slice(9)}`],
];
/** What of them would still be the value to whoever reads it. */
const traces = [
  'canary-9d1c',
  bytes.toString('base64').slice(0, 20),
  Buffer.from(` ${token}`).toString('base64').slice(4, 24),
  Buffer.from(`  ${token}`).toString('base64').slice(4, 24),
  bytes.toString('hex').slice(0, 24),
  encodeURIComponent(token),
  Array.from(token).reverse().join(''),
];

describe('a value that goes into the requests of a plugin', () => {
  let values: PluginValues;
  beforeEach(async () => (values = await PluginValues.open()));
  afterEach(() => values.close());

  const withoutValue = (): void => {
    assert.ok(!values.sent('authorization').some((each) => each?.includes('canary')));
    assert.equal(values.vault.uses().length, 0);
  };

  describe('in an answer', () => {
    for (const [what, text] of spellings) {
      it(`[VAULTUSE-17] does not come back ${what}`, async () => {
        await values.grant();
        values.answer = (_request, response) => response.end(`before ${text} after`);
        const body = await values.outcome(url);
        assert.match(body, /^before .* after$/s);
        for (const trace of traces) assert.ok(!body.includes(trace), body);
        // The control: without a grant the same server's answer is the plugin's, as it is.
        await values.vault.revoke(values.vault.grants()[0]?.id ?? '');
        assert.equal(await values.outcome(url), `before ${text} after`);
      });
    }

    it('[VAULTUSE-17] does not come back byte by byte, nor in the head', async () => {
      await values.grant();
      values.answer = (_request, response) => {
        response.writeHead(200, `OK ${token}`, { 'x-echo': token, [`x-${bytes.toString('hex')}`]: 'name' });
        const letters = Array.from(token);
        const next = (): void => {
          const letter = letters.shift();
          if (letter === undefined) return void response.end();
          response.write(letter, () => setImmediate(next));
        };
        next();
      };
      const answer = await values.fetch(url);
      assert.equal(answer.body.content, removedMark);
      const all = JSON.stringify(answer);
      for (const trace of traces) assert.ok(!all.includes(trace), all);
    });

    it('[VAULTUSE-17] is not let through in a form that can’t be looked through', async () => {
      await values.grant();
      values.answer = (_request, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(Buffer.from([0x1f, 0x8b, 8, 0]));
      };
      assert.match(await values.outcome(url, { headers: [['range', 'bytes=0-3']] }), /the answer is encoded/);
      assert.deepEqual(values.sent('range'), [undefined]);
      assert.deepEqual(values.sent('accept-encoding'), ['identity']);
      // The control: without a grant it is passed on, and the range is the plugin's own.
      await values.vault.revoke(values.vault.grants()[0]?.id ?? '');
      await values.fetch(url, { headers: [['range', 'bytes=0-3']] });
      assert.equal(values.sent('range')[1], 'bytes=0-3');
    });
  });

  describe('and a redirect', () => {
    const redirect =
      (location: string): Answer =>
      (request, response) => {
        const isFirst = request.url === '/';
        if (isFirst) response.writeHead(307, { location });
        response.end(isFirst ? '' : 'arrived');
      };
    const places: readonly (readonly [string, string])[] = [
      ['the same host', 'https://api.example.org/next'],
      ['another listed host', 'https://other.example.org/next'],
      ['plain HTTP', 'http://api.example.org/next'],
      ['this computer', 'https://127.0.0.1/next'],
    ];
    const hosts = ['api.example.org', 'other.example.org'];
    for (const [what, location] of places)
      it(`[VAULTUSE-21] follows none to ${what}`, async () => {
        await values.grant();
        values.answer = redirect(location);
        assert.match(await values.outcome(url, {}, { hosts }), /^unavailable: The answer is a redirect/);
        assert.equal(values.origin.seen.length, 1);
      });

    it('[VAULTUSE-21] control: without a grant the redirect is followed', async () => {
      values.answer = redirect('https://api.example.org/next');
      assert.equal(await values.outcome(url, {}, { hosts }), 'arrived');
    });

    it('[VAULTUSE-21] puts nothing into a request that a redirect of another host makes', async () => {
      await values.grant({
        use: { kind: 'header', hosts: ['api.example.org:8443'], name: 'authorization', prefix: '' },
      });
      const own = ['api.example.org', 'api.example.org:8443'];
      values.answer = redirect('https://api.example.org:8443/delete-everything');
      assert.match(
        await values.outcome(url, {}, { hosts: own }),
        /^not-allowed: .*a redirect leads to a host/,
      );
      assert.equal(values.origin.seen.length, 1);
      withoutValue();
      // The control: asked directly it is made, with the value.
      await values.fetch('https://api.example.org:8443/next', {}, { hosts: own });
      assert.deepEqual(values.sent('authorization'), [undefined, token]);
    });

    it('[VAULTUSE-21] shows one that the plugin asks to see, without the value', async () => {
      await values.grant();
      values.answer = (_request, response) => {
        response.writeHead(302, { location: `https://evil.example/?${token}` });
        response.end();
      };
      const answer = await values.fetch(url, { redirect: 'manual' });
      assert.equal(answer.headers['location'], `https://evil.example/?${removedMark}`);
    });
  });

  describe('for another', () => {
    const others: readonly (readonly [string, Parameters<PluginValues['fetch']>[2]])[] = [
      ['plugin of the same app', { principal: 'plugin:notes/other' }],
      ['app’s plugin of the same name', { principal: 'plugin:evil/search' }],
      ['installation of the same app', { scope: 'app:j' }],
      ['project', { scope: '' }],
    ];
    for (const [what, who] of others)
      it(`[VAULTUSE-19] ${what} is not used`, async () => {
        const { id, principal, scope } = await values.grant();
        await values.fetch(url, {}, who);
        withoutValue();
        // Nor where the engine names the grant itself.
        const params = { principal, scope, ...who, wishes: [], grants: [id], hosts: ['api.example.org'] };
        const request = { method: 'GET', url, headers: {}, body: null };
        await assert.rejects(
          values.desk.fetch({ ...params, request }, new AbortController().signal),
          /no grant of the vault is in force/,
        );
        withoutValue();
        // The control: with a grant of its own it is.
        await values.grant(who);
        await values.fetch(url, {}, who);
        assert.ok(values.sent('authorization').includes(bearer));
      });

    it('[VAULTUSE-19] principal’s grant is not used, a card’s or a connection’s', async () => {
      values.calls.isUnderWay = () => true;
      for (const principal of ['card:load', 'connection:c', 'person', 'agent', 'app:notes']) {
        const { id } = await values.grant({ principal });
        const request = { method: 'GET', url, headers: {}, body: null };
        const asked = { principal, scope: 'app:i', wishes: [], grants: [id], hosts: ['api.example.org'] };
        const params = { ...asked, request };
        await assert.rejects(
          values.desk.fetch(params, new AbortController().signal),
          /no grant of the vault is in force/,
        );
      }
      withoutValue();
    });

    const elsewhere: readonly (readonly [string, string, string])[] = [
      ['host', 'https://other.example.org/', 'other.example.org'],
      ['port', 'https://api.example.org:8443/', 'api.example.org:8443'],
      ['scheme', 'http://api.example.org/', 'api.example.org'],
      ['level of the name', 'https://x.api.example.org/', 'x.api.example.org'],
    ];
    for (const [what, address, host] of elsewhere)
      it(`[VAULTUSE-19] ${what} is not used`, async () => {
        const { id, principal, scope } = await values.grant();
        await values.outcome(address, {}, { hosts: [host] });
        withoutValue();
        const request = { method: 'GET', url: address, headers: {}, body: null };
        const params = { principal, scope, wishes: [], grants: [id], hosts: [host], request };
        await assert.rejects(values.desk.fetch(params, new AbortController().signal));
        withoutValue();
      });

    it('[VAULTUSE-19] host that the plugin may not reach is not asked, whatever was granted', async () => {
      await values.grant();
      assert.match(await values.outcome(url, {}, { hosts: [] }), /no rule of the plugin names this host/);
      assert.deepEqual(values.origin.seen, []);
    });

    it('[VAULTUSE-19] host than the item was saved for is not asked', async () => {
      await values.save(token, ['elsewhere.example']);
      await values.grant();
      assert.match(await values.outcome(url), /was not saved for api\.example\.org/);
      assert.deepEqual(values.origin.seen, []);
    });

    it('[VAULTUSE-19] header does not stay beside it', async () => {
      await values.grant();
      await values.fetch(url, { headers: [['Authorization', 'Bearer mine']] });
      const [asked] = values.origin.seen;
      assert.equal(asked?.headers.filter((each) => each.toLowerCase() === 'authorization').length, 1);
      assert.deepEqual(values.sent('authorization'), [bearer]);
    });
  });

  describe('and where the name leads', () => {
    for (const address of ['127.0.0.1', '10.0.0.7', '169.254.169.254', '::1', 'fd00::1', '192.168.1.1'])
      it(`[VAULTUSE-22] refuses ${address}`, async () => {
        await values.grant();
        values.names.set('api.example.org', [[address]]);
        assert.match(await values.outcome(url), /not-allowed: .*the name leads to an address/);
        // One public and one private address are refused together.
        values.names.set('api.example.org', [['93.184.216.34', address]]);
        assert.match(await values.outcome(url), /not-allowed: .*the name leads to an address/);
        assert.deepEqual(values.connected, []);
        withoutValue();
      });

    it('[VAULTUSE-22] resolves once: a name that changes its mind is connected to where it was checked', async () => {
      await values.grant();
      values.names.set('api.example.org', [['93.184.216.34'], ['127.0.0.1']]);
      assert.equal(await values.outcome(url), 'ok');
      assert.deepEqual(values.connected, ['93.184.216.34']);
      assert.match(await values.outcome(url), /the name leads to an address that is loopback/);
      assert.deepEqual(values.connected, ['93.184.216.34']);
    });

    it('[VAULTUSE-22] touches no value before the server has proved its name', async () => {
      await values.grant();
      values.desk = values.createDesk(createTestAuthority().certificatePem);
      assert.match(await values.outcome(url), /unavailable: .*the server could not be verified/);
      withoutValue();
      const { principal, scope } = await values.grant({
        use: { kind: 'header', hosts: ['other.example.org'], name: 'authorization', prefix: '' },
      });
      values.desk = values.createDesk(values.authority.certificatePem);
      const refusal = await values.outcome(
        'https://other.example.org/',
        {},
        { principal: principal as never, scope, hosts: ['other.example.org'] },
      );
      assert.match(refusal, /unavailable: .*the server could not be verified/);
      assert.equal(values.vault.uses().length, 0);
      assert.deepEqual(values.origin.seen, []);
      // The control: for the host that the certificate names, by the authority that signed it.
      assert.equal(await values.outcome(url), 'ok');
    });

    it('[VAULTUSE-22] sends nothing over plain HTTP but to this computer, listed as that', async () => {
      const hosts = ['api.example.org:80', '127.0.0.1:80'];
      await values.grant({ use: { kind: 'header', hosts, name: 'authorization', prefix: '' } });
      assert.match(
        await values.outcome('http://api.example.org/', {}, { hosts }),
        /not-allowed: .*over https only/,
      );
      withoutValue();
    });
  });

  describe('in a whole plugin', () => {
    const temporary = useTemporaryFolder();
    let plugins: PluginHarness;
    beforeEach(() => {
      plugins = createPluginHarness({
        folder: temporary(),
        host: {
          values: values.values,
          network: values.network,
          authorities: values.authority.certificatePem,
        },
      });
      plugins.install('notes/search', {
        source: `export async function run(how, { fetch, storage, log }) {
          const answer = await fetch('https://api.example.org/echo', how ?? {});
          const text = await answer.text();
          log(text, JSON.stringify(answer.headers));
          await storage.put('kept.txt', text);
          if (how?.fails) throw new Error(text);
          return { text, headers: answer.headers };
        }`,
        rights: [
          { name: 'network', host: 'api.example.org' },
          { name: 'storage', megabytes: 1 },
        ],
      });
      values.answer = echo;
    });
    afterEach(() => plugins.dispose());

    const everything = (folder: string): string =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
        .join('\n');
    const assertNowhere = (result: string): void => {
      const receipts = JSON.stringify(values.gate.database.all('select * from receipts'));
      const lines = JSON.stringify([values.records, plugins.egress, plugins.log]);
      const folders = everything(temporary()) + everything(values.harness.root);
      const all = [result, receipts, lines, values.messages.join('\n'), folders].join('\n');
      for (const trace of traces) {
        const at = all.indexOf(trace);
        assert.equal(at, -1, all.slice(Math.max(0, at - 200), at + 100));
      }
    };

    it('[VAULTUSE-17] is in no message, log, receipt, result, error, storage or file', async () => {
      await values.grant();
      const result = await plugins.outcome('notes/search');
      assert.match(result, /vault value removed/);
      assert.match(await plugins.outcome('notes/search', { fails: true }), /^plugin-failed: .*removed/);
      assert.equal(values.sent('authorization')[0], bearer);
      assert.ok(plugins.egress.some(({ reason }) => reason.includes('put in: api.token')));
      assertNowhere(result);
      // What the window logs or sends to a model later is freed of it too.
      assert.equal(values.released.scrubber.text(`x ${token}`), `x ${removedMark}`);
    });

    it('control: the same search finds what a plugin has itself', async () => {
      const result = await plugins.outcome('notes/search', { headers: { authorization: bearer } });
      assert.throws(() => assertNowhere(result));
    });
  });
});
