import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Sends bytes as they are to a Unix socket and returns all that comes back until the far side closes. */
export async function exchange(path: string, text: string): Promise<string> {
  const socket = connect(path);
  let answer = '';
  socket.setEncoding('latin1').on('data', (part: string) => (answer += part));
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return answer;
}

/** Opens a tunnel and returns the socket past the proxy's answer, or that answer where it is a refusal. */
export async function openTunnel(path: string, authority: string): Promise<Socket | string> {
  const socket = connect(path);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [first] = (await once(socket, 'data')) as [Buffer];
  const answer = first.toString();
  if (answer.startsWith('HTTP/1.1 200 ')) return socket;
  socket.destroy();
  return answer;
}
