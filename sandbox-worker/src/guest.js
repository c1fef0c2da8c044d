/*
 * The first code inside the sandbox. It makes `sallyport` and `console`, and its value is the function that runs one
 * card. It has no more rights than the card: `send` and `receive` are all there is, and the host takes what comes
 * through `send` as data from a stranger. It runs before the card, so it keeps the built-ins it needs.
 *
 * send(kind, name, json): `json` is one JSON string literal of at most `sliceLength` characters before quoting.
 * receive(port, 'text' | 'bytes'): an input as a string, or as an ArrayBuffer; a text with a NUL comes as UTF-16 units.
 */
(function (send, receive) {
  'use strict';

  const { stringify, parse } = JSON;
  const { create, freeze, defineProperty, hasOwn, keys } = Object;
  const apply = Reflect.apply;
  const fromCharCode = String.fromCharCode;
  const { slice, split, includes, indexOf, lastIndexOf, replaceAll, trimEnd, charCodeAt } = String.prototype;
  const { isFinite } = Number;
  const { exec } = RegExp.prototype;
  const sliceLength = 32768;
  const bytesLength = 4096;
  const messageLength = 8192;

  function sendText(kind, name, text) {
    for (let at = 0; at < text.length; at += sliceLength)
      send(kind, name, stringify(apply(slice, text, [at, at + sliceLength])));
  }

  function sendBytes(name, bytes) {
    for (let at = 0; at < bytes.length; at += bytesLength)
      send('bytes', name, stringify(apply(fromCharCode, null, bytes.subarray(at, at + bytesLength))));
  }

  // ---- What a card prints

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

  function printer(kind) {
    return (...values) => {
      let line = '';
      for (let at = 0; at < values.length; at++) line += (at > 0 ? ' ' : '') + show(values[at]);
      sendText(kind, '', `${line}\n`);
    };
  }

  // ---- Errors

  /** Out of memory may arrive with no words left, or as null: the host knows whether `nothing` is that. */
  const errorCodes = {
    __proto__: null,
    'InternalError: out of memory': 'memory',
    'RangeError: Maximum call stack size exceeded': 'stack',
    'InternalError: ': 'nothing',
    'Thrown: null': 'nothing',
    'Thrown: undefined': 'nothing',
  };

  /** A stack without the frames of this file, which end each stack of a card. */
  function ownFrames(stack) {
    const end = apply(indexOf, stack, ['(sallyport:']);
    const own = end === -1 ? stack : apply(slice, stack, [0, apply(lastIndexOf, stack, ['\n', end]) + 1]);
    return apply(trimEnd, own, []);
  }

  /** Runs the card's own getters; what they throw ends up in the last branch. */
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
      return { code: 'exception', message: 'The card threw something that has no description' };
    }
  }

  class BadOutput extends Error {}
  class BadEntry extends Error {}

  // ---- Tables: RFC 4180 with a header. What is not quoted and looks like a number, true, false or nothing is one.

  const numberPattern = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
  const integerPattern = /^-?[0-9]+$/;
  const specialPattern = /[",\r\n]|^\s|\s$/;

  function readCell(text) {
    if (text === '') return null;
    // Most text is told from a number by its first character: a pattern for each cell is slow.
    if (text[0] > '9') return text === 'true' ? true : text === 'false' ? false : text;
    if (apply(exec, numberPattern, [text]) === null) return text;
    const number = Number(text);
    // A long integer that would lose digits stays text.
    if (apply(exec, integerPattern, [text]) !== null) return String(number) === text ? number : text;
    return isFinite(number) ? number : text;
  }

  function parseTable(text) {
    const records = [];
    let header;
    let row = 0;
    let at = apply(charCodeAt, text, [0]) === 0xfeff ? 1 : 0;
    while (at < text.length) {
      let end = apply(indexOf, text, ['\n', at]);
      if (end === -1) end = text.length;
      const line = apply(slice, text, [at, text[end - 1] === '\r' ? end - 1 : end]);
      row++;
      let cells;
      if (apply(includes, line, ['"'])) {
        ({ cells, end } = quotedRow(text, at, row, header !== undefined));
      } else {
        cells = apply(split, line, [',']);
        if (header !== undefined)
          for (let index = 0; index < cells.length; index++) cells[index] = readCell(cells[index]);
      }
      at = end + 1;
      if (line === '' && header?.length !== 1) continue;
      if (header === undefined) header = cells;
      else if (cells.length === header.length) records[records.length] = toRecord(header, cells);
      else
        throw new SyntaxError(
          `row ${row} of the table has ${cells.length} cells, its header has ${header.length}`,
        );
    }
    return records;
  }

  function toRecord(header, cells) {
    const record = {};
    for (let column = 0; column < header.length; column++) {
      const value = cells[column];
      // An assignment would run a setter for the one name that has one.
      if (header[column] !== '__proto__') record[header[column]] = value;
      else
        defineProperty(record, '__proto__', { value, writable: true, enumerable: true, configurable: true });
    }
    return record;
  }

  /** The row `row`, which has quoted cells and may go over several lines; `end` is the line end after it. */
  function quotedRow(text, start, row, typed) {
    const cells = [];
    let at = start;
    for (;;) {
      if (text[at] === '"') {
        let end = at + 1;
        for (;;) {
          end = apply(indexOf, text, ['"', end]);
          if (end === -1) throw new SyntaxError(`row ${row} of the table has an open quotation mark`);
          if (text[end + 1] !== '"') break;
          end += 2;
        }
        cells[cells.length] = apply(replaceAll, apply(slice, text, [at + 1, end]), ['""', '"']);
        at = end + 1;
      } else {
        let end = at;
        while (end < text.length && text[end] !== ',' && text[end] !== '\n') end++;
        const cell = apply(slice, text, [at, text[end] !== ',' && text[end - 1] === '\r' ? end - 1 : end]);
        cells[cells.length] = typed ? readCell(cell) : cell;
        at = end;
      }
      if (text[at] === '\r') at++;
      if (at >= text.length || text[at] === '\n') return { cells, end: at };
      if (text[at] !== ',') throw new SyntaxError(`row ${row} of the table has text after a quotation mark`);
      at++;
    }
  }

  function writeCell(value) {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    const text = typeof value === 'string' ? value : stringify(value);
    if (typeof text !== 'string') throw new BadOutput('A table holds text, numbers, true, false and null');
    if (readCell(text) === text && apply(exec, specialPattern, [text]) === null) return text;
    return `"${apply(replaceAll, text, ['"', '""'])}"`;
  }

  function formatTable(records) {
    const seen = create(null);
    for (const record of records) {
      if (typeof record !== 'object' || record === null)
        throw new BadOutput('A table is CSV text or an array of records');
      for (const key of keys(record)) seen[key] = true;
    }
    const header = keys(seen);
    if (header.length === 0) return '';
    const lines = [header.map((name) => writeCell(name)).join(',')];
    for (const record of records)
      lines[lines.length] = header
        .map((name) => (hasOwn(record, name) ? writeCell(record[name]) : ''))
        .join(',');
    return `${lines.join('\n')}\n`;
  }

  // ---- Inputs and outputs by their port's type

  function readText(port) {
    const raw = receive(port, 'text');
    if (typeof raw === 'string') return raw;
    const units = new Uint16Array(raw);
    let text = '';
    for (let at = 0; at < units.length; at += bytesLength)
      text += apply(fromCharCode, null, units.subarray(at, at + bytesLength));
    return text;
  }

  function readInput(port, type) {
    if (type === 'file' || type === 'image') return new Uint8Array(receive(port, 'bytes'));
    const raw = readText(port);
    try {
      if (type === 'json' || type === 'vega-lite' || type === 'plotly') return parse(raw);
      if (type === 'table') return parseTable(raw);
    } catch (error) {
      if (error instanceof SyntaxError)
        throw new SyntaxError(`The input "${port}" can't be read as ${type}: ${error.message}`);
      throw error;
    }
    return raw;
  }

  function sendOutput(port, type, value) {
    const wrong = (wanted) => new BadOutput(`The output "${port}" is of type ${type} and takes ${wanted}`);
    send('open', port, '""');
    if (type === 'json' || type === 'vega-lite' || type === 'plotly') {
      if (type !== 'json' && (typeof value !== 'object' || value === null)) throw wrong('an object');
      const text = stringify(value);
      if (typeof text !== 'string') throw wrong('a value that JSON can carry');
      sendText('text', port, text);
    } else if (type === 'table' && Array.isArray(value)) sendText('text', port, formatTable(value));
    else if (type === 'file' || type === 'image') {
      if (typeof value === 'string' && type === 'file') sendText('text', port, value);
      else if (value instanceof Uint8Array) sendBytes(port, value);
      else if (value instanceof ArrayBuffer) sendBytes(port, new Uint8Array(value));
      else
        throw wrong(
          type === 'file' ? 'bytes (Uint8Array, ArrayBuffer) or text' : 'bytes (Uint8Array, ArrayBuffer)',
        );
    } else if (typeof value === 'string') sendText('text', port, value);
    else throw wrong(type === 'table' ? 'CSV text or an array of records' : 'text');
  }

  function makeInputs(types) {
    const inputs = create(null);
    for (const port of keys(types)) {
      let value;
      let read = false;
      defineProperty(inputs, port, {
        enumerable: true,
        get() {
          if (!read) value = readInput(port, types[port]);
          read = true;
          return value;
        },
      });
    }
    return freeze(inputs);
  }

  const log = freeze(printer('stdout'));
  const warn = freeze(printer('stderr'));
  defineProperty(globalThis, 'console', {
    value: freeze({ __proto__: null, log, info: log, debug: log, warn, error: warn }),
  });

  /** job: { entry, params, inputs: { port: type }, outputs: { port: type } } as JSON. */
  async function runCard(job) {
    try {
      const { entry, params, inputs, outputs } = parse(job);
      const sallyport = freeze({
        __proto__: null,
        inputs: makeInputs(inputs),
        params,
        log,
        text: freeze((port) => readText(String(port))),
        progress: freeze((fraction, text = '') =>
          send('progress', String(Number(fraction)), stringify(String(text))),
        ),
      });
      // Configurable, as the card that warms the instance up comes first.
      defineProperty(globalThis, 'sallyport', { value: sallyport, configurable: true });
      const { default: main } = await import(entry);
      if (typeof main !== 'function') throw new BadEntry(`${entry} has no function as its default export`);
      const result = (await main(sallyport)) ?? {};
      if (typeof result !== 'object') throw new BadOutput('A card returns an object of outputs by port');
      for (const port of keys(result)) {
        if (!hasOwn(outputs, port))
          throw new BadOutput(
            `"${port}" is not an output of this card. Add it to "outputs" of its _card.json`,
          );
        if (result[port] !== undefined) sendOutput(port, outputs[port], result[port]);
      }
      send('end', 'ok', '""');
    } catch (error) {
      const { code, message } = describe(error);
      send('end', code, stringify(message));
    }
  }

  return runCard;
});
