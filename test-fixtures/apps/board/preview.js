// @ts-check
/// <reference path="sallyport.d.ts" />

const rowsShown = 200;
const textShown = 200_000;

/**
 * What is shown of an output: an element, made of its content.
 * @param {string} project @param {string} card @param {{ port: string, type: string }} output
 * @returns {Promise<HTMLElement>}
 */
async function preview(project, card, { port, type }) {
  switch (type) {
    case 'table':
      return tableOf(await sallyport.results.read(project, card, port));
    case 'image':
      return imageOf(await sallyport.results.readBytes(project, card, port), `${card}/${port}`);
    case 'json':
    case 'vega-lite':
    case 'plotly':
      return textOf(indented(await sallyport.results.read(project, card, port)));
    case 'file':
    case 'directory':
      return textOf('This output is not shown here. Open it in the run view.');
    default:
      return textOf(await sallyport.results.read(project, card, port));
  }
}

/** @param {string} text */
function textOf(text) {
  const element = document.createElement('pre');
  element.textContent = text.length > textShown ? `${text.slice(0, textShown)}\n…` : text;
  return element;
}

/** @param {string} text */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {string} name */
function imageOf(bytes, name) {
  const element = document.createElement('img');
  const isSvg = new TextDecoder().decode(bytes.subarray(0, 200)).trimStart().startsWith('<');
  const url = URL.createObjectURL(new Blob([bytes], { type: isSvg ? 'image/svg+xml' : 'image/png' }));
  element.addEventListener('load', () => URL.revokeObjectURL(url));
  element.src = url;
  element.alt = name;
  return element;
}

/** A table with a small chart above each column of numbers. @param {string} csv */
function tableOf(csv) {
  const [header = [], ...rows] = readCsv(csv);
  const table = document.createElement('table');
  const head = table.createTHead().insertRow();
  const isNumber = header.map((_, at) => rows.length > 0 && rows.every((row) => isNumeric(row[at])));
  header.forEach((name, at) => {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = name;
    if (isNumber[at]) cell.append(columnChart(name, rows.map((row) => Number(row[at]))));
    head.append(cell);
  });
  const body = table.createTBody();
  for (const row of rows.slice(0, rowsShown)) {
    const line = body.insertRow();
    header.forEach((_, at) => {
      const cell = line.insertCell();
      cell.textContent = row[at] ?? '';
      if (isNumber[at]) cell.className = 'number';
    });
  }
  const box = document.createElement('div');
  box.append(table);
  if (rows.length > rowsShown) box.append(`The first ${rowsShown} of ${rows.length} rows.`);
  return box;
}

/** @param {string | undefined} text */
function isNumeric(text) {
  return text !== undefined && text.trim() !== '' && Number.isFinite(Number(text));
}

/** At most forty bars, each the mean of its share of the rows. @param {string} name @param {number[]} values */
function columnChart(name, values) {
  const count = Math.min(values.length, 40);
  const means = Array.from({ length: count }, (_, at) => {
    const share = values.slice(Math.floor((at * values.length) / count), Math.floor(((at + 1) * values.length) / count));
    return share.reduce((sum, value) => sum + value, 0) / share.length;
  });
  const lowest = Math.min(0, ...means);
  const span = Math.max(0, ...means) - lowest || 1;
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${count * 3} 28`);
  svg.setAttribute('width', String(count * 3));
  svg.setAttribute('class', 'column');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `${name}: ${Math.min(...values)} to ${Math.max(...values)}`);
  means.forEach((value, at) => {
    const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    const height = Math.max(1, (Math.abs(value) / span) * 28);
    const top = 28 - ((Math.max(value, 0) - lowest) / span) * 28;
    for (const [key, each] of Object.entries({ x: at * 3, y: Math.min(top, 27), width: 2, height })) {
      bar.setAttribute(key, String(each));
    }
    svg.append(bar);
  });
  return svg;
}

/** RFC 4180. @param {string} text @returns {string[][]} */
function readCsv(text) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  const cells = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|\r|$)/y;
  while (cells.lastIndex < text.length) {
    const [, cell = '', end = ''] = cells.exec(text) ?? [];
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push([...row, '']);
  return rows;
}
