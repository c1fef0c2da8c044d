import assert from 'node:assert/strict';
import type { PortType } from '../../../protocol/src/manifests.ts';
import type { JsCardJob, JsCardResult } from '../../../protocol/src/worker.ts';
import { createSandbox } from '../../../sandbox-worker/src/sandbox.ts';
import { guestSource, jsJob, runInSandbox, standardPages, wasmModule } from '../../support/quickjs.ts';

type Inputs = JsCardJob['inputs'];

function outputOf(result: JsCardResult): string | Uint8Array | undefined {
  assert.equal(result.kind, 'ok', result.kind === 'error' ? result.message : '');
  return result.outputs['out'];
}

function errorOf(result: JsCardResult): { code: string; message: string } {
  assert.equal(result.kind, 'error');
  return result;
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));

describe('sandbox', () => {
  const inputCases: readonly [string, Inputs, string, unknown][] = [
    ['json', { a: { type: 'json', text: '{"x":[1,null]}' } }, 'inputs.a', { x: [1, null] }],
    ['vega-lite as an object', { a: { type: 'vega-lite', text: '{"mark":"bar"}' } }, 'inputs.a.mark', 'bar'],
    [
      'text with NUL and astral characters',
      { a: { type: 'text', text: 'a\0b😀\u2028' } },
      'inputs.a',
      'a\0b😀\u2028',
    ],
    ['html as text', { a: { type: 'html', text: '<p>' } }, 'inputs.a', '<p>'],
    ['a table as records', { a: { type: 'table', text: 'x,y\n1,b\n' } }, 'inputs.a', [{ x: 1, y: 'b' }]],
    ['a file as bytes', { a: { type: 'file', bytes: bytes('hé') } }, '[...inputs.a]', [0x68, 0xc3, 0xa9]],
    ['a file as text', { a: { type: 'file', bytes: bytes('hé') } }, "text('a')", 'hé'],
    ['a table as text', { a: { type: 'table', text: 'x\n1\n' } }, "text('a')", 'x\n1\n'],
    ['an empty text', { a: { type: 'text', text: '' } }, 'inputs.a', ''],
    [
      'ports called like built-ins',
      Object.fromEntries([['constructor', { type: 'text', text: 'c' }]]),
      'Object.keys(inputs)',
      ['constructor'],
    ],
    ['an input only once', { a: { type: 'json', text: '{}' } }, 'inputs.a === inputs.a', true],
    [
      'no input of a port that is not there',
      {},
      'typeof inputs.a + typeof inputs.toString',
      'undefinedundefined',
    ],
  ];
  for (const [name, inputs, expression, expected] of inputCases)
    it(`[QJS-09] reads ${name}`, async () => {
      const source = `export default ({ inputs, text }) => ({ out: ${expression} });`;
      const { result } = await runInSandbox(jsJob(source, { inputs }));
      assert.deepEqual(JSON.parse(String(outputOf(result))), expected);
    });

  const outputCases: readonly [PortType, string, string | Uint8Array][] = [
    ['json', '{ a: [1, "ü"] }', '{"a":[1,"ü"]}'],
    ['json', '"text"', '"text"'],
    ['json', 'null', 'null'],
    ['vega-lite', '({ mark: "bar" })', '{"mark":"bar"}'],
    ['plotly', '({ data: [] })', '{"data":[]}'],
    ['text', '"a\\0b😀"', 'a\0b😀'],
    ['text', '""', ''],
    ['text', '"x" + "😀".repeat(20_000)', `x${'😀'.repeat(20_000)}`],
    ['html', '"<p>"', '<p>'],
    ['table', '"a\\n1\\n"', 'a\n1\n'],
    ['table', '[{ a: 1, b: "x,y" }, { b: null, c: true }]', 'a,b,c\n1,"x,y",\n,,true\n'],
    ['table', '[]', ''],
    ['file', 'new Uint8Array([0, 255, 10])', new Uint8Array([0, 255, 10])],
    ['file', '"text"', 'text'],
    ['image', 'new Uint8Array(10_000).fill(7).buffer', new Uint8Array(10_000).fill(7)],
    ['image', 'new Uint8Array(0)', ''],
  ];
  for (const [type, expression, expected] of outputCases)
    it(`[QJS-09] writes ${type} from ${expression}`, async () => {
      const outputs = [{ port: 'out', type, optional: false }];
      const { result } = await runInSandbox(
        jsJob(`export default () => ({ out: ${expression} });`, { outputs }),
      );
      assert.deepEqual(outputOf(result), expected);
    });

  const badOutputs: readonly [PortType, string, RegExp][] = [
    ['json', '() => 1', /takes a value that JSON can carry/],
    ['vega-lite', '"bar"', /takes an object/],
    ['text', '1', /takes text/],
    ['table', '({})', /takes CSV text or an array of records/],
    ['table', '[1]', /array of records/],
    ['table', '[{ a: () => 1 }]', /A table holds text/],
    ['image', '"text"', /takes bytes/],
  ];
  for (const [type, expression, message] of badOutputs)
    it(`[QJS-09] refuses ${expression} for ${type}`, async () => {
      const outputs = [{ port: 'out', type, optional: false }];
      const { result } = await runInSandbox(
        jsJob(`export default () => ({ out: ${expression} });`, { outputs }),
      );
      assert.equal(errorOf(result).code, 'bad-output');
      assert.match(errorOf(result).message, message);
    });

  it('[QJS-09] gives params, a log of two streams, progress, and the same object as a global', async () => {
    const source = `export default ({ params, log, progress }) => {
      log('one', 2, { three: 3n }, [4], undefined, null, Symbol('s'), () => 1);
      console.error('six');
      progress(0.5, 'half');
      progress(7, 'x'.repeat(1000));
      progress('no number');
      return { out: [params.year, sallyport.params === params] };
    };`;
    const { result, log, progress } = await runInSandbox(jsJob(source, { params: '{"year":2012}' }));
    assert.equal(outputOf(result), '[2012,true]');
    assert.equal(log, 'one 2 {"three":"3n"} [4] undefined null Symbol(s) [function ]\n! six\n');
    assert.deepEqual(progress, [
      [0.5, 'half'],
      [1, 'x'.repeat(200)],
    ]);
  });

  it('[QJS-09] leaves out what a card leaves out', async () => {
    const { result } = await runInSandbox(jsJob('export default () => ({ out: undefined });'));
    assert.deepEqual(result, { kind: 'ok', outputs: {}, logCutBytes: 0 });
    const nothing = await runInSandbox(jsJob('export default () => {};'));
    assert.deepEqual(nothing.result, { kind: 'ok', outputs: {}, logCutBytes: 0 });
  });

  it('[QJS-06] imports modules of its own folder, in both directions', async () => {
    const modules = {
      'main.mjs': "import { a } from './lib/a.js'; export default () => ({ out: a });",
      'lib/a.js': "import { b } from '../b.js'; import { c } from './deep/../c.js'; export const a = [b, c];",
      'b.js': 'export const b = 1;',
      'lib/c.js': 'export const c = 2;',
    };
    const { result } = await runInSandbox(jsJob('', { modules, entry: 'main.mjs' }));
    assert.equal(outputOf(result), '[1,2]');
  });

  const failures: readonly [string, Partial<JsCardJob>, string, RegExp][] = [
    [
      'throw',
      { modules: { 'main.js': 'export default () => { throw new TypeError("no"); };' } },
      'exception',
      /^TypeError: no\n {4}at .*main\.js:1:\d+\)?$/,
    ],
    [
      'a syntax error',
      { modules: { 'main.js': 'export default (' } },
      'exception',
      /^SyntaxError: .*\n {4}at main\.js/,
    ],
    ['a missing entry', { entry: 'other.js' }, 'bad-entry', /has no other\.js/],
    ['an entry called like a built-in', { entry: 'constructor' }, 'bad-entry', /has no constructor/],
    ['NUL in a source', { modules: { 'main.js': 'export default\0 () => {};' } }, 'bad-entry', /NUL/],
    ['no default export', { modules: { 'main.js': 'export const a = 1;' } }, 'bad-entry', /no function/],
    [
      'an input that is no JSON',
      { inputs: { a: { type: 'json', text: '{' } } },
      'exception',
      /input "a" can't be read as json/,
    ],
    [
      'a ragged table',
      { inputs: { a: { type: 'table', text: 'x,y\n1\n' } } },
      'exception',
      /row 2 of the table has 1 cells, its header has 2/,
    ],
    [
      'an open quotation mark',
      { inputs: { a: { type: 'table', text: 'x\n"1\n' } } },
      'exception',
      /row 2 of the table has an open quotation mark/,
    ],
    [
      'text after a quotation mark',
      { inputs: { a: { type: 'table', text: 'x\n"1"2\n' } } },
      'exception',
      /text after a quotation mark/,
    ],
  ];
  for (const [name, changes, code, message] of failures)
    it(`[QJS-01] names what is wrong: ${name}`, async () => {
      const source = 'export default ({ inputs }) => ({ out: inputs.a });';
      const { result } = await runInSandbox(jsJob(source, changes));
      assert.equal(errorOf(result).code, code);
      assert.match(errorOf(result).message, message);
    });

  it('[QJS-04] ends by a clock that it is given', async () => {
    let ticks = 0;
    const now = (): number => ticks++;
    const job = jsJob('export default () => { while (true) {} };', { deadlineMs: 50 });
    assert.equal(errorOf((await runInSandbox(job, { now })).result).code, 'timeout');
  });

  it('[QJS-08] serves one card', async () => {
    const { sandbox } = await runInSandbox(jsJob('export default () => {};'));
    const events = { log: () => undefined, progress: () => undefined, tick: () => undefined };
    assert.throws(() => sandbox.run(jsJob(''), events), /has run one/);
  });

  it('[QJS-07] counts the log that it leaves out', async () => {
    const source = "export default () => { for (let n = 0; n < 10; n++) console.log('x'.repeat(99)); };";
    const { result, log } = await runInSandbox(jsJob(source, { logBytes: 350 }));
    assert.equal(log.length, 300);
    assert.equal(result.logCutBytes, 700);
  });

  it('[QJS-03] fails cleanly where not even the modules of a card fit', async () => {
    const big = `export default ${JSON.stringify('x'.repeat(14 * 1024 * 1024))};`;
    const modules = { 'main.js': "import './big.js'; export default () => ({});", 'big.js': big };
    const { result } = await runInSandbox(jsJob('', { modules }), { memoryPages: 256 });
    assert.equal(errorOf(result).code, 'memory');
  });

  const preludes: readonly [string, string, string][] = [
    ['numbers', 'send(1, 2, 3)', 'exception'],
    ['nothing', 'send()', 'exception'],
    ['an object with a toString', 'send({ toString() { return "end"; } }, "ok", \'""\')', 'exception'],
    ['text that is no JSON', 'send("stdout", "", "plain")', 'exception'],
    ['JSON that is no string', 'send("stdout", "", "[1]")', 'exception'],
    ['an overlong literal', 'send("stdout", "", \'"\' + "x".repeat(200_000) + \'"\')', 'exception'],
    ['an unknown kind', 'send("exec", "", \'""\')', 'exception'],
    ['a port that is not declared', 'send("open", "other", \'""\')', 'exception'],
    ['a port that was not opened', 'send("text", "out", \'"1"\')', 'exception'],
    ['a port called __proto__', 'send("open", "__proto__", \'""\')', 'exception'],
    ['a code that there is not', 'send("end", "refused", \'"x"\')', 'exception'],
    ['an end and then more', 'send("end", "stack", \'"x"\'); send("end", "ok", \'""\')', 'stack'],
  ];
  for (const [name, call, code] of preludes)
    it(`[QJS-07] takes what a hostile prelude sends as a stranger's: ${name}`, async () => {
      const prelude = `(function (send) { return async () => { try { ${call} } catch {} }; })`;
      const now = () => performance.now();
      const sandbox = await createSandbox({
        wasmModule,
        guestSource: prelude,
        memoryPages: standardPages,
        now,
      });
      const events = { log: () => undefined, progress: () => undefined, tick: () => undefined };
      assert.equal(errorOf(sandbox.run(jsJob(''), events)).code, code);
    });

  it('[QJS-07] stops a prelude that sends more than the outputs may have', async () => {
    const prelude = `(function (send) { return async () => {
      send('open', 'out', '""');
      while (true) { try { send('text', 'out', '"' + 'x'.repeat(1000) + '"'); } catch {} }
    }; })`;
    const now = () => performance.now();
    const sandbox = await createSandbox({
      wasmModule,
      guestSource: prelude,
      memoryPages: standardPages,
      now,
    });
    const events = { log: () => undefined, progress: () => undefined, tick: () => undefined };
    assert.equal(errorOf(sandbox.run(jsJob('', { outputBytes: 10_000 }), events)).code, 'output-too-large');
  });

  it('has a prelude that is a function of two things', () => {
    assert.match(guestSource, /^\(function \(send, receive\) \{$/m);
  });
});
