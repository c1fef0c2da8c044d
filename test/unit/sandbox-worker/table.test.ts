import assert from 'node:assert/strict';
import fc from 'fast-check';
import { jsJob, runInSandbox } from '../../support/quickjs.ts';

type Cell = string | number | boolean | null;

/** Parses many tables in one sandbox: a card gets each as an input of its own. */
async function parseAll(texts: readonly string[]): Promise<unknown[]> {
  const inputs = Object.fromEntries(
    texts.map((text, index) => [`t${index}`, { type: 'table' as const, text }]),
  );
  const source = `export default ({ inputs }) => ({ out: Object.keys(inputs).map((port) => inputs[port]) });`;
  const { result } = await runInSandbox(
    jsJob(source, { inputs, outputBytes: 50_000_000, deadlineMs: 60_000 }),
  );
  assert.equal(result.kind, 'ok', result.kind === 'error' ? result.message : '');
  return JSON.parse(String(result.outputs['out'])) as unknown[];
}

async function formatAll(tables: readonly unknown[]): Promise<string[]> {
  const outputs = tables.map((_, index) => ({ port: `t${index}`, type: 'table' as const, optional: false }));
  const inputs = { tables: { type: 'json' as const, text: JSON.stringify(tables) } };
  const source = `export default ({ inputs }) =>
    Object.fromEntries(inputs.tables.map((table, index) => ['t' + index, table]));`;
  const { result } = await runInSandbox(
    jsJob(source, { inputs, outputs, outputBytes: 50_000_000, deadlineMs: 60_000 }),
  );
  assert.equal(result.kind, 'ok', result.kind === 'error' ? result.message : '');
  return outputs.map(({ port }) => String(result.outputs[port]));
}

describe('tables of a js card', () => {
  const cases: readonly [string, string, unknown[]][] = [
    ['types of what is not quoted', 'a,b,c,d\n1,true,,x\n', [{ a: 1, b: true, c: null, d: 'x' }]],
    ['text of what is quoted', 'a,b,c\n"1","true",""\n', [{ a: '1', b: 'true', c: '' }]],
    ['numbers in every form', 'a,b,c,d\n-0.5,1e3,2E-2,10\n', [{ a: -0.5, b: 1000, c: 0.02, d: 10 }]],
    [
      'text that only looks like a number',
      'a,b,c,d\n007,+1,.5,1.\n',
      [{ a: '007', b: '+1', c: '.5', d: '1.' }],
    ],
    ['integers that would lose digits', 'a\n12345678901234567890\n', [{ a: '12345678901234567890' }]],
    ['numbers beyond the largest', 'a\n1e999\n', [{ a: '1e999' }]],
    ['CR LF and a byte order mark', '\ufeffa,b\r\n1,"x"\r\n', [{ a: 1, b: 'x' }]],
    ['a last line without an end', 'a\n1', [{ a: 1 }]],
    [
      'commas, quotation marks and line ends in cells',
      'a,b\n"x,""y""","1\r\n2"\n',
      [{ a: 'x,"y"', b: '1\r\n2' }],
    ],
    ['plain cells beside quoted ones', 'a,b,c\n1,"x",\n', [{ a: 1, b: 'x', c: null }]],
    ['empty lines between rows of several cells', 'a,b\n\n1,2\n\n', [{ a: 1, b: 2 }]],
    ['empty cells of a single column', 'a\n\n1\n', [{ a: null }, { a: 1 }]],
    [
      'columns called like members of every object',
      '__proto__,constructor\n1,2\n',
      [JSON.parse('{"__proto__":1,"constructor":2}')],
    ],
    ['nothing', '', []],
    ['a header alone', 'a,b\n', []],
  ];
  it('[QJS-09] reads CSV', async () => {
    const parsed = await parseAll(cases.map(([, text]) => text));
    for (const [index, [name, , expected]] of cases.entries())
      assert.deepEqual(parsed[index], expected, name);
  });

  it('[QJS-09] writes what it reads back the same', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', ' ', '1', 'e', '-', '.', 'é', '😀') }),
      fc.constantFrom('', 'true', 'false', '1', '1e5', ' x', 'x ', '007', 'null'),
    );
    const cell: fc.Arbitrary<Cell> = fc.oneof(
      text,
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
      fc.boolean(),
      fc.constant(null),
    );
    const table = fc.uniqueArray(text, { minLength: 1, maxLength: 4 }).chain((header) =>
      fc.array(
        fc
          .tuple(...header.map(() => cell))
          .map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? null]))),
        { minLength: 1, maxLength: 4 },
      ),
    );
    const tables = fc.sample(table, { numRuns: 400 });
    const parsed = await parseAll(await formatAll(tables));
    for (const [index, expected] of tables.entries()) assert.deepEqual(parsed[index], expected);
  });
});
