import { connect } from 'node:net';

/**
 * Asks vfkit about its VM or gives it an order (its doc/usage.md, “RESTful API”) at a socket's path. Returns what it
 * answered, and undefined where nobody is there, also where it ends in the middle of an answer.
 */
export function askVfkit(
  path: string,
  method: 'GET' | 'POST',
  body?: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const socket = connect(path);
    let answer = '';
    const done = (result: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => done(undefined), answerMs);
    socket.on('error', () => done(undefined));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
      if (answer.length > answerUnits) done(undefined);
    });
    // HTTP/1.0: the answer ends with the connection.
    socket.once('close', () => done(/^HTTP\/1\.[01] 20[0-9] /.test(answer) ? answer : undefined));
    socket.write(
      [
        `${method} /vm/state HTTP/1.0`,
        'Host: vfkit',
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(text)}`,
        '',
        text,
      ].join('\r\n'),
    );
  });
}

const answerMs = 5_000;
const answerUnits = 64 * 1024;
