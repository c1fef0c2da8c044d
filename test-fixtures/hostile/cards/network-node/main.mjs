import { get } from 'node:http';
import { connect } from 'node:net';
import { attempt, lures } from './attack.mjs';

const port = lures.tcpPort;
const reach = (host) =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => {
      socket.destroy();
      resolve(host);
    });
    socket.setTimeout(3000, () => reject(new Error('timed out')));
    socket.once('error', reject);
  });

await attempt('fetch', async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
await attempt('fetch-mapped', async () => (await fetch(`http://[::ffff:127.0.0.1]:${port}/`)).text());
await attempt('socket', () => reach('127.0.0.1'));
await attempt('socket-mapped', () => reach('::ffff:7f00:1'));
await attempt('http-module', () =>
  new Promise((resolve, reject) => get(`http://127.1:${port}/`, (answer) => resolve(answer.statusCode)).once('error', reject)),
);
