'use strict';
// What a card needs to talk to Sallyport; index.d.ts says what each function promises. Node built-ins only.
const { existsSync, readFileSync, writeFileSync, writeSync } = require('node:fs');
const { join } = require('node:path');

const inputs = {
  path: (port) => portPath('SALLYPORT_INPUTS', port),
  has: (port) => existsSync(inputs.path(port)),
  bytes: (port) => readFileSync(inputs.path(port)),
  text: (port) => readFileSync(inputs.path(port), 'utf8'),
  json: (port) => JSON.parse(inputs.text(port)),
  table: (port) => toRecords(parseCsv(inputs.text(port).replace(/^\uFEFF/, '')), port),
};

const outputs = {
  path: (port) => portPath('SALLYPORT_OUTPUTS', port),
  bytes: (port, value) => writeFileSync(outputs.path(port), value),
  text: (port, value) => writeFileSync(outputs.path(port), String(value)),
  json: (port, value) => {
    const text = JSON.stringify(value, refuseNaN);
    if (text === undefined) throw new TypeError(`${port}: not a value that JSON has`);
    outputs.text(port, text);
  },
  table: (port, rows, columns) => outputs.text(port, toCsv([...rows], columns)),
};

const params = JSON.parse(process.env.SALLYPORT_PARAMS || '{}');

function progress(fraction, text = '') {
  const descriptor = process.env.SALLYPORT_PROGRESS ?? '';
  if (!/^[0-9]+$/.test(descriptor)) return;
  const bounded = Math.min(1, Math.max(0, Number(fraction) || 0));
  const line = JSON.stringify({ fraction: bounded, text: String(text).slice(0, 200) });
  try {
    writeSync(Number(descriptor), `${line}\n`);
  } catch {
    // Progress is a courtesy: a card does not fail for it.
  }
}

function portPath(variable, port) {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(port)) throw new TypeError(`Not the name of a port: ${port}`);
  const folder = process.env[variable];
  if (!folder) throw new Error(`${variable} is not set: this runs outside Sallyport`);
  return join(folder, port);
}

function refuseNaN(key, value) {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${key || 'value'} is ${value}`);
  return value;
}

/** The lines of a CSV text (RFC 4180) as lists of values; a line end may be CRLF or LF. Empty lines are left out. */
function parseCsv(text) {
  const lines = [];
  let at = 0;
  const readValue = () => {
    const start = at;
    if (text[at] === '"') {
      at = closingQuote(text, at) + 1;
      if (!isEnd(text[at])) throw new SyntaxError(`Text after a quoted value: ${text.slice(start, at + 1)}`);
      return text.slice(start + 1, at - 1).replaceAll('""', '"');
    }
    while (!isEnd(text[at])) at += 1;
    return text.slice(start, at);
  };
  while (at < text.length) {
    const line = [readValue()];
    for (; text[at] === ','; line.push(readValue())) at += 1;
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n') at += 1;
    if (line.length > 1 || line[0] !== '') lines.push(line);
  }
  return lines;
}

function isEnd(character) {
  return character === undefined || character === ',' || character === '\n' || character === '\r';
}

function closingQuote(text, open) {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  throw new SyntaxError('A quoted value does not end');
}

function toRecords([columns = [], ...lines], port) {
  return lines.map((values, index) => {
    if (values.length > columns.length)
      throw new SyntaxError(`${port}, row ${index + 1}: more values than columns`);
    return Object.fromEntries(columns.map((column, place) => [column, values[place] ?? '']));
  });
}

function toCsv(rows, columns = Object.keys(rows[0] ?? {})) {
  const cell = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  for (const row of rows) {
    const unknown = Object.keys(row).find((name) => !columns.includes(name));
    if (unknown !== undefined) throw new TypeError(`A row has a column that the header has not: ${unknown}`);
  }
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return columns.length === 0 ? '' : lines.map((line) => `${line.map(cell).join(',')}\n`).join('');
}

module.exports = { inputs, outputs, params, progress };
