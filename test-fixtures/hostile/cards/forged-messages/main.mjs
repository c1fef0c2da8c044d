import { writeSync } from 'node:fs';

for (const message of [
  { jsonrpc: '2.0', method: 'job/log', params: { jobId: 'forged', stream: 'stdout', text: 'forged' } },
  { jsonrpc: '2.0', method: 'job/started', params: { jobId: 'forged' } },
  { jsonrpc: '2.0', id: 1, result: { outcome: { kind: 'exited', exitCode: 0 } } },
]) {
  const body = JSON.stringify(message);
  for (const descriptor of [1, 2]) writeSync(descriptor, `Content-Length: ${body.length}\r\n\r\n${body}`);
}
