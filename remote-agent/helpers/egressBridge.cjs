// Runs inside a sandbox before the card does: opens the listening socket of the egress proxy in the sandbox's own
// network namespace, hands it to the runner over the channel that `child_process` made, and ends. See
// remote-agent/src/egressBridge.ts.
'use strict';
const { createServer } = require('node:net');

const listener = createServer();
listener.on('error', fail);
listener.listen({ host: '127.0.0.1', port: Number(process.argv[2]), backlog: 128 }, () => {
  process.send('listening', listener, {}, (error) => {
    if (error) fail(error);
    process.exit(0);
  });
});

function fail(error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
