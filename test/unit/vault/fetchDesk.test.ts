import assert from 'node:assert/strict';
import { UserError } from '../../../protocol/src/errors.ts';
import { fetchLimits } from '../../../protocol/src/hostCalls.ts';
import { removedMark } from '../../../protocol/src/scrub/scrubber.ts';
import { PluginValues, pluginToken as token } from '../../support/pluginValues.ts';
import { until } from '../../support/until.ts';

const url = 'https://api.example.org/notes?q=1';

describe('FetchDesk', () => {
  let values: PluginValues;
  beforeEach(async () => (values = await PluginValues.open()));
  afterEach(async () => {
    assert.equal(values.desk.openStreams, 0);
    await values.close();
  });

  it('[VAULTUSE-17] puts the value into the header, and the plugin gets the answer without it', async () => {
    await values.grant();
    values.answer = (request, response) => {
      response.setHeader('x-echo', request.headers.authorization ?? '');
      response.end(JSON.stringify(request.headers));
    };
    const answer = await values.fetch(url, { headers: [['x-own', 'yes']] });
    assert.deepEqual(values.sent('authorization'), [`Bearer ${token}`]);
    assert.deepEqual(values.sent('x-own'), ['yes']);
    assert.equal(values.origin.seen[0]?.line, 'GET /notes?q=1');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-echo'], `Bearer ${removedMark}`);
    assert.match(answer.body.content, /vault value removed/);
    assert.ok(!JSON.stringify(answer).includes(token));
  });

  it('[VAULTUSE-17] puts it in as the password of Basic, and into the query', async () => {
    await values.grant({ use: { kind: 'basic', hosts: ['api.example.org'], user: 'me' } });
    await values.grant({ use: { kind: 'query', hosts: ['api.example.org'], name: 'key' } });
    await values.fetch('https://api.example.org/notes?key=mine&a=1');
    assert.deepEqual(values.sent('authorization'), [
      `Basic ${Buffer.from(`me:${token}`).toString('base64')}`,
    ]);
    assert.equal(values.origin.seen[0]?.line, `GET /notes?a=1&key=${encodeURIComponent(token)}`);
  });

  it('[VAULTUSE-17] sends a body, and gives an answer of bytes', async () => {
    await values.grant();
    values.answer = (_request, response) => response.end(Buffer.from([0xff, 0, 1]));
    const answer = await values.fetch(url, {
      method: 'POST',
      body: { content: 'hello', encoding: 'text' },
    });
    assert.deepEqual(answer.body, { content: '/wAB', encoding: 'base64' });
    assert.equal(values.origin.seen[0]?.body, 'hello');
  });

  it('[VAULTUSE-18] is one act of the gate, one line of the network log and one of the vault’s', async () => {
    const { id } = await values.grant();
    await values.fetch(url);
    const rows = values.gate.database.all('select op_id, principal, tool, state from receipts');
    assert.deepEqual(
      rows.map(({ principal, tool, state }) => ({ principal, tool, state })),
      [{ principal: 'plugin:notes/search', tool: 'fetch', state: 'done' }],
    );
    assert.deepEqual(
      values.records.map(({ verdict, host, address, reason }) => [verdict, host, address, reason]),
      [['allowed', 'api.example.org', '127.0.0.1', 'rule api.example.org; put in: api.token']],
    );
    assert.deepEqual(
      values.vault.uses().map(({ grant, principal, host }) => [grant, principal, host]),
      [[id, 'plugin:notes/search', 'api.example.org']],
    );
  });

  it('[VAULTUSE-18] makes a request without a grant in the engine, and no act of it', async () => {
    await values.fetch(url);
    assert.deepEqual(values.sent('authorization'), [undefined]);
    assert.equal(values.gate.database.all('select * from receipts').length, 0);
    assert.ok(!values.messages.some((message) => message.includes('vault/fetch"')));
  });

  it('[PLUG-11] asks an address over TLS, with a value and without, where the certificate is for it', async () => {
    const here = await PluginValues.open('127.0.0.1');
    const hosts = ['127.0.0.1:8443'];
    const ask = () => here.outcome('https://127.0.0.1:8443/', {}, { hosts });
    assert.equal(await ask(), 'ok');
    await here.grant({ use: { kind: 'header', hosts, name: 'authorization', prefix: '' } });
    assert.equal(await ask(), 'ok');
    assert.deepEqual(here.sent('authorization'), [undefined, token]);
    // The control: a certificate for another name.
    const other = await values.outcome('https://127.0.0.1:8443/', {}, { hosts });
    assert.match(other, /does not match certificate/);
    await here.close();
  });

  it('[VAULTUSE-18] is refused by the gate in a workspace that is not trusted', async () => {
    await values.grant();
    values.gate.trusted = false;
    assert.match(await values.outcome(url), /not-allowed: .*not trusted/);
    assert.deepEqual(values.origin.seen, []);
  });

  it('[VAULTUSE-19] counts, and stops where the limits say so', async () => {
    await values.grant({ limits: { count: 1, until: null } });
    await values.fetch(url);
    await values.fetch(url);
    assert.deepEqual(values.sent('authorization'), [`Bearer ${token}`, undefined]);
    await values.grant({ limits: { count: null, until: values.harness.now + 1000 } });
    values.harness.now += 1000;
    await values.fetch(url);
    assert.equal(values.sent('authorization')[2], undefined);
  });

  it('[VAULTUSE-19] ends with a revocation at once, also for a request that was asked before', async () => {
    const { id } = await values.grant();
    await values.fetch(url);
    await values.vault.revoke(id);
    await values.fetch(url);
    assert.deepEqual(values.sent('authorization'), [`Bearer ${token}`, undefined]);
    const request = { method: 'GET', url, headers: {}, body: null };
    const params = { principal: 'plugin:notes/search', scope: 'app:i', wishes: [], grants: [id], request };
    await assert.rejects(
      values.desk.fetch({ ...params, hosts: ['api.example.org'] }, new AbortController().signal),
      (error) => error instanceof UserError && error.code === 'permission-needed',
    );
    assert.equal(values.origin.seen.length, 2);
  });

  it('[VAULTUSE-19] ends with a new version of the item', async () => {
    await values.grant();
    await values.save('another-value-of-it');
    await values.fetch(url);
    assert.deepEqual(values.sent('authorization'), [undefined]);
  });

  it('[VAULTUSE-19] tells a lock from "no grant", once it was known', async () => {
    await values.grant();
    await values.fetch(url);
    values.isLocked = true;
    assert.match(await values.outcome(url), /not-allowed: .*is locked/);
    assert.equal(values.origin.seen.length, 1);
    // Another host is none of it.
    const other = await values.outcome('https://other.example/', {}, { hosts: ['other.example'] });
    assert.doesNotMatch(other, /locked/);
    values.isLocked = false;
    assert.equal(await values.outcome(url), 'ok');
  });

  const unfit: readonly (readonly [string, string])[] = [
    ['short', 'abc'],
    ['of two lines', 'first line\nsecond line'],
    ['with a NUL', 'before\0after'],
  ];
  for (const [what, text] of unfit)
    it(`[VAULTUSE-17] sends nothing where the value is ${what}`, async () => {
      await values.save(text);
      await values.grant();
      const refusal = await values.outcome(url);
      assert.match(refusal, /not-allowed: .*api\.token can’t be used in this way/);
      assert.ok(!refusal.includes(text));
      assert.deepEqual(values.origin.seen, []);
      assert.equal(values.vault.uses().length, 0);
    });

  it('[VAULTUSE-20] gives up an answer that is too long, and stops reading it', async () => {
    await values.grant();
    let isOver = false;
    values.answer = (_request, response) => {
      const more = (): void => {
        while (response.write(Buffer.alloc(64 * 1024, 'a')));
        response.once('drain', more);
      };
      response.on('close', () => (isOver = true));
      more();
    };
    assert.match(await values.outcome(url), /^too-large: /);
    await until(() => isOver);
  });

  it('[VAULTUSE-20] reads no further ahead than it is asked', async () => {
    const { id } = await values.grant();
    let written = 0;
    values.answer = (_request, response) => {
      const piece = Buffer.alloc(16 * 1024, 'b');
      const more = (): void => {
        while (written < 64 * fetchLimits.bodyBytes) {
          written += piece.byteLength;
          if (!response.write(piece)) return void response.once('drain', more);
        }
      };
      more();
    };
    const signal = new AbortController().signal;
    const { stream } = await values.desk.fetch(
      {
        principal: 'plugin:notes/search',
        scope: 'app:i',
        wishes: [],
        grants: [id],
        hosts: ['api.example.org'],
        request: { method: 'GET', url, headers: {}, body: null },
      },
      signal,
    );
    await values.desk.read(stream, signal);
    let before = -1;
    // The sender stands still when the buffers in between are full.
    await until(async () => {
      const isStill = before === written;
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return isStill;
    });
    assert.ok(written < 32 * fetchLimits.bodyBytes, String(written));
    values.desk.close(stream);
  });

  it('[VAULTUSE-20] is cancelled with its call, before and within the answer', async () => {
    await values.grant();
    for (const isBegun of [false, true]) {
      const controller = new AbortController();
      let isOver = false;
      values.answer = (_request, response) => {
        response.on('close', () => (isOver = true));
        if (isBegun) response.write('the beginning of it');
        setImmediate(() => controller.abort());
      };
      assert.match(await values.outcome(url, {}, { signal: controller.signal }), /^cancelled: /);
      await until(() => isOver);
      assert.equal(values.desk.openStreams, 0);
    }
  });

  it('[VAULTUSE-20] leaves nothing open when the engine is gone', async () => {
    const { id } = await values.grant();
    let isOver = false;
    values.answer = (_request, response) => {
      response.on('close', () => (isOver = true));
      response.write('beginning');
    };
    await values.desk.fetch(
      {
        principal: 'plugin:notes/search',
        scope: 'app:i',
        wishes: [],
        grants: [id],
        hosts: ['api.example.org'],
        request: { method: 'GET', url, headers: {}, body: null },
      },
      new AbortController().signal,
    );
    values.desk.closeAll();
    await until(() => isOver);
  });
});
