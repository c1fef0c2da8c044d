import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as startRequest, type IncomingMessage } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { createScrubber } from '../../protocol/src/scrub/scrubber.ts';
import { spellingsOf } from '../../protocol/src/scrub/spellings.ts';
import { createEgressProxy } from '../../remote-agent/src/egress.ts';
import { createJobAuthority } from '../../remote-agent/src/vault/jobAuthority.ts';
import { createTrust } from '../../remote-agent/src/vault/trust.ts';
import { openTunnel } from '../support/proxyClient.ts';
import { createTestAuthority, openSecureOrigin } from '../support/secureOrigin.ts';
import '../support/vscodeHooks.ts';
import { limitRow, measureInTurns, median, ratioRow, type BenchRow } from './benchRow.ts';

const group = 'vault';
const megabyte = 1e6;

/** The scrubber with 100 secrets, and what putting a value in adds to a request of a card and of a plugin. */
export async function vaultUseBench(): Promise<BenchRow[]> {
  return [...(await scrubberRows()), ...(await egressRows()), await pluginRow()];
}

async function scrubberRows(): Promise<BenchRow[]> {
  const secrets = Array.from({ length: 100 }, () => randomBytes(24).toString('base64url'));
  const scrubber = createScrubber(secrets);
  const line = '2026-11-30T07:00:00Z GET /index.html 200 12 ms Mozilla/5.0 (X11; Linux x86_64)\n';
  const kinds = {
    'a log': Buffer.from(line.repeat(800)),
    'coloured output': Buffer.from(
      '\u001b[32m✓\u001b[0m some test passed \u001b[90m(12 ms)\u001b[0m\n'.repeat(1200),
    ),
    Base64: Buffer.from(randomBytes(49_152).toString('base64')),
    'random bytes': randomBytes(65_536),
  };
  const rows: BenchRow[] = [];
  for (const [name, chunk] of Object.entries(kinds)) {
    const times = Array.from({ length: 7 }, () => {
      const stream = scrubber.stream();
      // Processor time: nothing is waited for, and what else the machine does is not meant.
      const before = process.cpuUsage();
      for (let bytes = 0; bytes < 40 * megabyte; bytes += chunk.length) stream.push(chunk);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    const speed = 40 / (median(times) / 1000);
    rows.push({
      group,
      name: `scrubber, 100 secrets, ${name}, by processor time`,
      ours: speed,
      peer: null,
      unit: 'MB/s',
      ratio: null,
      goal: '≥ 200 MB/s',
      holds: speed >= 200,
    });
  }
  // What one would write without thinking of it: a look for each spelling.
  const texts = secrets.flatMap(spellingsOf).map((bytes) => Buffer.from(bytes).toString('latin1'));
  const log = kinds['a log'].toString('latin1');
  const { ours, peer } = await measureInTurns(5, {
    ours: () => scrubber.bytes(kinds['a log']),
    peer: () => texts.reduce((text, each) => text.replaceAll(each, '*'), log),
  });
  rows.push({
    group,
    name: `scrubbing ${Math.round(log.length / 1000)} kB (peer: replaceAll for each spelling)`,
    ours,
    peer,
    unit: 'ms',
    ratio: ours / peer,
    goal: '',
    holds: null,
  });
  return rows;
}

/** A plugin's request over TLS to loopback, made by the extension with a value, beside the engine's own without one. */
async function pluginRow(): Promise<BenchRow> {
  // After the hooks: the extension's part has words of VS Code's.
  const { PluginValues } = await import('../support/pluginValues.ts');
  const values = await PluginValues.open();
  try {
    await values.grant();
    const url = 'https://api.example.org/notes';
    const { ours, peer } = await measureInTurns(41, {
      ours: () => values.fetch(url),
      peer: () => values.fetch(url, {}, { principal: 'plugin:notes/other' }),
    });
    const name = 'request of a plugin with a value, its line in the log synced; peer the same without';
    return ratioRow({ group, name, ours, peer, unit: 'ms', goal: '' }, null);
  } finally {
    await values.close();
  }
}

async function egressRows(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  const servers = createTestAuthority();
  const job = createJobAuthority(Date.now(), 600_000);
  const origin = await openSecureOrigin(servers, (_request, response) => response.end('hello'), 'api.test');
  const proxy = createEgressProxy({
    jobId: 'bench',
    hosts: ['api.test', 'plain.test'],
    onRecord: () => undefined,
    bounds: { requests: 1_000_000 },
    network: {
      resolve: async () => ['93.184.216.34'],
      open: () => connect({ host: '127.0.0.1', port: origin.port, allowHalfOpen: true }),
    },
    vault: {
      values: {
        injections: [
          {
            label: 'api.token',
            use: { kind: 'header', hosts: ['api.test'], name: 'authorization', prefix: 'Bearer ' },
            value: 'a-token-of-the-bench',
            targets: [{ host: 'api.test', isAddress: false, port: 443 }],
          },
        ],
        scrubber: createScrubber(['a-token-of-the-bench']),
      },
      authority: job,
      trust: () => createTrust(servers.certificatePem),
    },
  });
  const path = join(folder, 'proxy');
  await proxy.listen({ path });
  try {
    const open = async (host: string, ca: string): Promise<Socket> => {
      const tunnel = await openTunnel(path, `${host}:443`);
      if (typeof tunnel === 'string') throw new Error(tunnel);
      const socket = connectTls({ socket: tunnel, servername: 'api.test', ca });
      await once(socket, 'secureConnect');
      return socket;
    };
    const ask = async (socket: Socket, host: string): Promise<void> => {
      const request = startRequest({
        createConnection: () => socket,
        headers: { host, connection: 'keep-alive' },
      });
      request.end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
    };
    // The same server both times: by a tunnel that is opened, and by one that passes.
    const ours = await open('api.test', job.certificatePem);
    const peer = await open('plain.test', servers.certificatePem);
    const kept = await measureInTurns(400, {
      ours: () => ask(ours, 'api.test'),
      peer: () => ask(peer, 'plain.test'),
    });
    const fresh = await measureInTurns(60, {
      ours: async () => {
        const socket = await open('api.test', job.certificatePem);
        await ask(socket, 'api.test');
        socket.destroy();
      },
      peer: async () => {
        const socket = await open('plain.test', servers.certificatePem);
        await ask(socket, 'plain.test');
        socket.destroy();
      },
    });
    for (const socket of [ours, peer]) socket.destroy();
    return [
      limitRow(
        { group, name: 'what putting a value in adds to a request', unit: 'ms', ours: kept.ours - kept.peer },
        1,
      ),
      row('a request with a value (peer: the same through a tunnel)', kept),
      row('a first request with its handshakes (peer: the same through a tunnel)', fresh),
    ];
  } finally {
    await proxy.close();
    await origin.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function row(name: string, { ours, peer }: { ours: number; peer: number }): BenchRow {
  return { group, name, ours, peer, unit: 'ms', ratio: ours / peer, goal: '', holds: null };
}
