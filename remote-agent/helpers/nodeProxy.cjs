// Required by every Node of a card with a host list. Node before 22.21 and 24.5 does not know NODE_USE_ENV_PROXY: there
// it sends `fetch`, `http` and `https` through the egress proxy, each connection by a CONNECT (RFC 9110, 9.3.6).
// Nothing depends on it but comfort: without the proxy there is no way out.
'use strict';
const http = require('node:http');
const https = require('node:https');
const { connect: openSocket, isIP } = require('node:net');
const { syncBuiltinESMExports } = require('node:module');
const { connect: startTls } = require('node:tls');

const address = process.env.HTTPS_PROXY;
if (address && !knowsProxies(process.versions.node)) useProxy(new URL(address));

function knowsProxies(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}

function useProxy(proxy) {
  http.globalAgent = new (agentThrough(proxy, http.Agent, false))({ keepAlive: true });
  https.globalAgent = new (agentThrough(proxy, https.Agent, true))({ keepAlive: true });
  syncBuiltinESMExports();

  // The library behind `fetch` is large and loaded by Node at first use: no earlier here either.
  const bare = globalThis.fetch;
  let isReady = false;
  globalThis.fetch = function fetch(...words) {
    isReady ||= setDispatcher(proxy);
    return bare.apply(this, words);
  };
}

function agentThrough(proxy, Agent, isSecure) {
  return class extends Agent {
    createConnection(options, done) {
      if (options.socketPath) return super.createConnection(options, done);
      const { host, port, servername } = options;
      openThrough(proxy, { ...options, host, port: Number(port), servername, isSecure }, done);
    }
  };
}

/** `fetch` keeps what carries its requests under a symbol, where other copies of undici share it. */
function setDispatcher(proxy) {
  void new globalThis.Headers();
  const place = Symbol.for('undici.globalDispatcher.1');
  const Agent = globalThis[place].constructor;
  globalThis[place] = new Agent({
    connect({ hostname, port, protocol, servername }, done) {
      const isSecure = protocol === 'https:';
      const host = hostname.replace(/^\[|\]$/g, '');
      openThrough(proxy, { host, port: Number(port) || (isSecure ? 443 : 80), servername, isSecure }, done);
    },
  });
  return true;
}

/** A socket to `host` and `port` through the proxy, with TLS to the far end where it `isSecure`. */
function openThrough(proxy, { host, port, servername, isSecure, ...tls }, done) {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const request = http.request({
    createConnection: () => openSocket(Number(proxy.port), proxy.hostname),
    method: 'CONNECT',
    path: authority,
    headers: { Host: authority },
  });
  request.once('error', done);
  request.once('connect', ({ statusCode }, socket) => {
    if (statusCode !== 200) {
      socket.destroy();
      return done(new Error(`The egress proxy answered ${statusCode} to a connection to ${authority}`));
    }
    if (!isSecure) return done(null, socket);
    const name = servername || (isIP(host) ? undefined : host);
    const secure = startTls({ ...tls, host, servername: name, ALPNProtocols: ['http/1.1'], socket });
    secure.once('error', done);
    secure.once('secureConnect', () => {
      secure.off('error', done);
      done(null, secure);
    });
  });
  request.end();
}
