/*
 * The first code inside a plugin's sandbox. It makes `sallyport` and `console`, and its value is the function by which
 * the host enters. It has no more rights than the plugin: `send`, `now` and `random` are all there is, and the host
 * takes what comes through `send` as data from a stranger. It runs before the plugin, so it keeps the built-ins it needs.
 *
 * send(kind, id, text, name): 'end' and 'fail' finish the call `id`; 'host' asks for the host function `name` under the
 * new id `id`; 'info', 'warning' and 'error' are log lines. Values are JSON text.
 * The host enters with: load(entry), call(id, name, input), answer(id, ok, text).
 */
(function (send, now, random) {
  'use strict';

  const { stringify, parse } = JSON;
  const { create, freeze, defineProperty, hasOwn, keys, setPrototypeOf } = Object;
  const { apply } = Reflect;
  const { fromCharCode } = String;
  const { slice, charCodeAt, indexOf, lastIndexOf, trimEnd } = String.prototype;
  const { isView } = ArrayBuffer;
  const Bytes = Uint8Array;
  const encode = encodeURIComponent;
  const latin = unescape;
  const messageLength = 2000;
  const chunkLength = 4096;

  // ---- What a plugin prints

  function show(value) {
    if (typeof value === 'string') return value;
    try {
      if (typeof value === 'bigint') return `${value}n`;
      if (typeof value === 'function') return `[function ${value.name}]`;
      if (typeof value !== 'object' || value === null) return String(value);
      if (value instanceof Error) return describe(value).message;
      return (
        stringify(value, (_key, member) => (typeof member === 'bigint' ? `${member}n` : member)) ??
        'undefined'
      );
    } catch {
      return '[object]';
    }
  }

  function printer(level) {
    return freeze((...values) => {
      let line = '';
      for (let at = 0; at < values.length; at++) line += (at > 0 ? ' ' : '') + show(values[at]);
      send(level, 0, stringify(apply(slice, line, [0, messageLength])));
    });
  }

  // ---- Errors

  class BadOutput extends Error {}
  class BadEntry extends Error {}

  /** What a host function rejects with: `code` says why. */
  class HostError extends Error {
    constructor({ code, message }) {
      super(message);
      defineProperty(this, 'name', { value: 'HostError' });
      defineProperty(this, 'code', { value: code, enumerable: true });
    }
  }

  /** Out of memory may arrive with no words left, or as null: the host knows whether `nothing` is that. */
  const errorCodes = {
    __proto__: null,
    'InternalError: out of memory': 'memory',
    'InternalError: ': 'nothing',
    'Thrown: null': 'nothing',
    'Thrown: undefined': 'nothing',
  };

  /** A stack without the frames of this file, which end each stack of a plugin. */
  function ownFrames(stack) {
    const end = apply(indexOf, stack, ['(sallyport:']);
    const own = end === -1 ? stack : apply(slice, stack, [0, apply(lastIndexOf, stack, ['\n', end]) + 1]);
    return apply(trimEnd, own, []);
  }

  /** Runs the plugin's own getters; what they throw ends up in the last branch. */
  function describe(error) {
    try {
      if (error instanceof BadOutput) return { code: 'bad-output', message: error.message };
      if (error instanceof BadEntry) return { code: 'bad-entry', message: error.message };
      const isError = error instanceof Error;
      const head = isError ? `${error.name}: ${error.message}` : `Thrown: ${show(error)}`;
      const stack = isError ? ownFrames(String(error.stack ?? '')) : '';
      const code = errorCodes[head] ?? 'exception';
      return { code, message: apply(slice, stack === '' ? head : `${head}\n${stack}`, [0, messageLength]) };
    } catch {
      return { code: 'exception', message: 'The plugin threw something that has no description' };
    }
  }

  // ---- Bytes: base64 (RFC 4648 §4) on the way, Uint8Array in here

  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const digits = new Bytes(128);
  for (let at = 0; at < 64; at++) digits[alphabet.charCodeAt(at)] = at;
  const letters = new Bytes(64);
  for (let at = 0; at < 64; at++) letters[at] = alphabet.charCodeAt(at);

  function fromBase64(text) {
    let length = (text.length / 4) * 3;
    if (text[text.length - 1] === '=') length -= text[text.length - 2] === '=' ? 2 : 1;
    const bytes = new Bytes(length);
    for (let at = 0, to = 0; at < text.length; at += 4, to += 3) {
      const group =
        (digits[apply(charCodeAt, text, [at])] << 18) |
        (digits[apply(charCodeAt, text, [at + 1])] << 12) |
        (digits[apply(charCodeAt, text, [at + 2])] << 6) |
        digits[apply(charCodeAt, text, [at + 3])];
      // What stands for padding falls off the end of the array.
      bytes[to] = group >> 16;
      bytes[to + 1] = group >> 8;
      bytes[to + 2] = group;
    }
    return bytes;
  }

  function toBase64(bytes) {
    const codes = new Bytes(Math.ceil(bytes.length / 3) * 4);
    let to = 0;
    for (let at = 0; at < bytes.length; at += 3, to += 4) {
      const group = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      codes[to] = letters[group >> 18];
      codes[to + 1] = letters[(group >> 12) & 63];
      codes[to + 2] = letters[(group >> 6) & 63];
      codes[to + 3] = letters[group & 63];
    }
    const padding = (3 - (bytes.length % 3)) % 3;
    for (let at = 1; at <= padding; at++) codes[to - at] = 61;
    return fromCodes(codes);
  }

  function fromCodes(codes) {
    let text = '';
    for (let at = 0; at < codes.length; at += chunkLength)
      text += apply(fromCharCode, null, codes.subarray(at, at + chunkLength));
    return text;
  }

  function utf8(text) {
    const units = latin(encode(text));
    const bytes = new Bytes(units.length);
    for (let at = 0; at < units.length; at++) bytes[at] = apply(charCodeAt, units, [at]);
    return bytes;
  }

  /** What a host function takes as content: text as it is, bytes as base64. */
  function toContent(value) {
    if (typeof value === 'string') return { content: value, encoding: 'text' };
    const bytes =
      value instanceof ArrayBuffer
        ? new Bytes(value)
        : isView(value)
          ? new Bytes(value.buffer, value.byteOffset, value.byteLength)
          : undefined;
    if (bytes === undefined) throw new TypeError('Content is a string, an ArrayBuffer or a view of one');
    return { content: toBase64(bytes), encoding: 'base64' };
  }

  function toBytes({ content, encoding }) {
    return encoding === 'text' ? utf8(content) : fromBase64(content);
  }

  // ---- Host functions

  const waiting = create(null);
  let nextId = 1;

  function ask(name, params) {
    return new Promise((resolve, reject) => {
      const id = nextId++;
      waiting[id] = { __proto__: null, resolve, reject };
      send('host', id, stringify(params), name);
    });
  }

  /** `members` frozen, without a prototype, its functions frozen too. */
  function seal(members) {
    for (const key of keys(members)) if (typeof members[key] === 'function') freeze(members[key]);
    return freeze(setPrototypeOf(members, null));
  }

  function toHeaders(headers) {
    const list = [];
    const own = headers ?? {};
    for (const name of keys(own)) list[list.length] = [name, String(own[name])];
    return list;
  }

  async function fetch(url, options = {}) {
    const { method = 'GET', headers, body, redirect = 'follow' } = options;
    const answer = await ask('fetch', {
      url: String(url),
      method: String(method),
      headers: toHeaders(headers),
      body: body === undefined || body === null ? null : toContent(body),
      redirect,
    });
    const text = () => {
      if (answer.body.encoding !== 'text') throw new TypeError('The answer is not UTF-8 text: take bytes()');
      return answer.body.content;
    };
    return seal({
      status: answer.status,
      statusText: answer.statusText,
      ok: answer.status >= 200 && answer.status <= 299,
      url: answer.url,
      redirected: answer.redirected,
      headers: freeze(setPrototypeOf(answer.headers, null)),
      text,
      json: () => parse(text()),
      bytes: () => toBytes(answer.body),
    });
  }

  const path = (value) => ({ path: String(value) });
  const noneFor = (error) => {
    if (error?.code === 'not-found') return undefined;
    throw error;
  };

  const storage = seal({
    async get(name) {
      try {
        return (await ask('storage.get', { ...path(name), encoding: 'text' })).content;
      } catch (error) {
        return noneFor(error);
      }
    },
    async getBytes(name) {
      try {
        return toBytes(await ask('storage.get', { ...path(name), encoding: 'base64' }));
      } catch (error) {
        return noneFor(error);
      }
    },
    async put(name, value) {
      await ask('storage.put', { ...path(name), ...toContent(value) });
    },
    async delete(name) {
      return (await ask('storage.delete', path(name))).found;
    },
    async list(prefix = '') {
      return (await ask('storage.list', { prefix: String(prefix) })).files;
    },
    quota: () => ask('storage.quota', {}),
  });

  const generate = seal({
    text: (request) =>
      ask(
        'generate.text',
        typeof request === 'string' ? { messages: [{ role: 'user', text: request }] } : request,
      ),
    image: async (request) => withBytes(await ask('generate.image', request)),
    speech: async (request) => withBytes(await ask('generate.speech', request)),
    embedding: (request) => ask('generate.embedding', request),
  });

  function withBytes({ mime, base64, model }) {
    return seal({ mime, model, bytes: fromBase64(base64) });
  }

  function randomBytes(count = 16) {
    const text = random(Number(count));
    const bytes = new Bytes(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = apply(charCodeAt, text, [at]) - 256;
    return bytes;
  }

  const log = printer('info');
  const warn = printer('warning');
  const fail = printer('error');
  const sallyport = seal({ fetch, storage, generate, log, now, random: randomBytes });
  defineProperty(globalThis, 'sallyport', { value: sallyport });
  defineProperty(globalThis, 'console', {
    value: seal({ log, info: log, debug: log, warn, error: fail }),
  });

  // ---- How the host enters

  let entry = '';

  async function call(id, name, input) {
    try {
      const module = await import(entry);
      const run = hasOwn(module, name) ? module[name] : undefined;
      if (typeof run !== 'function') throw new BadEntry(`${entry} exports no function ${name}`);
      const output = stringify((await run(parse(input), sallyport)) ?? null);
      if (typeof output !== 'string') throw new BadOutput(`${name} gave what JSON can't carry`);
      send('end', id, output);
    } catch (error) {
      send('fail', id, stringify(describe(error)));
    }
  }

  function answer(id, ok, text) {
    const one = waiting[id];
    delete waiting[id];
    if (one === undefined) return;
    const value = parse(text);
    if (ok) one.resolve(value);
    else one.reject(new HostError(value));
  }

  return (kind, first, second, third) => {
    if (kind === 'load') entry = first;
    else if (kind === 'call') call(first, second, third);
    else answer(first, second, third);
  };
});
