import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadHelpers } from '../../../remote-agent/src/helpers.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

const helpers = join(import.meta.dirname, '../../../remote-agent/helpers');

/** The same things said in each language; `$` marks where they differ in more than punctuation. */
interface Language {
  readonly name: string;
  readonly file: string;
  readonly program: readonly string[];
  readonly start: string;
  readonly print: (expression: string) => string;
}

const languages: readonly Language[] = [
  {
    name: 'Python',
    file: 'main.py',
    program: ['python3', '-B'],
    start: 'import json\nfrom sallyport import inputs, outputs, params, progress\n',
    print: (expression) => `print(json.dumps(${expression}, separators=(",", ":")))\n`,
  },
  {
    name: 'Node (import)',
    file: 'main.mjs',
    program: [process.execPath],
    start: "import { inputs, outputs, params, progress } from 'sallyport';\n",
    print: (expression) => `console.log(JSON.stringify(${expression}));\n`,
  },
  {
    name: 'Node (require)',
    file: 'main.cjs',
    program: [process.execPath],
    start: "const { inputs, outputs, params, progress } = require('sallyport');\n",
    print: (expression) => `console.log(JSON.stringify(${expression}));\n`,
  },
];

describe('helpers', () => {
  const temporary = useTemporaryFolder();
  const input = (...parts: string[]): string => join(temporary(), 'in', ...parts);
  const output = (...parts: string[]): string => join(temporary(), 'out', ...parts);
  beforeEach(() => {
    for (const folder of ['in', 'out', 'card']) mkdirSync(join(temporary(), folder));
    symlinkSync(join(helpers, 'node'), join(temporary(), 'node_modules'));
  });
  const run = ({ file, program, start }: Language, text: string, environment: NodeJS.ProcessEnv = {}) => {
    const [name = '', ...words] = program;
    const script = join(temporary(), 'card', file);
    writeFileSync(script, start + text);
    const result = spawnSync(name, [...words, script], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        PYTHONPATH: join(helpers, 'python'),
        SALLYPORT_INPUTS: input(),
        SALLYPORT_OUTPUTS: output(),
        SALLYPORT_PARAMS: '{"year":2012,"name":"ü"}',
        SALLYPORT_PROGRESS: '3',
        ...environment,
      },
    });
    return { out: result.stdout, errors: result.stderr, status: result.status, progress: result.output[3] };
  };
  const printed = (language: Language, expression: string): unknown => {
    const { out, errors } = run(language, language.print(expression));
    assert.equal(errors, '');
    return JSON.parse(out);
  };

  for (const language of languages) {
    describe(language.name, () => {
      it('reads parameters, text, JSON and bytes', () => {
        writeFileSync(input('a-b'), 'hé\n');
        writeFileSync(input('j'), '{"x":[1,null]}');
        assert.deepEqual(printed(language, '[params["year"], params["name"]]'), [2012, 'ü']);
        assert.equal(printed(language, 'inputs.text("a-b")'), 'hé\n');
        assert.deepEqual(printed(language, 'inputs.json("j")'), { x: [1, null] });
        assert.equal(printed(language, 'len(inputs.bytes("a-b"))'.replace(...lengthFor(language))), 4);
      });

      const tables: [title: string, csv: string, rows: Record<string, string>[]][] = [
        ['of nothing', '', []],
        ['with a header alone', 'a,b\n', []],
        [
          'with both line ends and a byte order mark',
          '\ufeffa,b\r\n1,2\n3,4',
          [
            { a: '1', b: '2' },
            { a: '3', b: '4' },
          ],
        ],
        ['with quotes, commas and line ends in values', 'a\n"x, ""y""\nz"\n', [{ a: 'x, "y"\nz' }]],
        [
          'with empty and missing values',
          'a,b,c\n,,\n1\n,"",3\n',
          [
            { a: '', b: '', c: '' },
            { a: '1', b: '', c: '' },
            { a: '', b: '', c: '3' },
          ],
        ],
        [
          'with empty lines',
          'a,b\n\n1,2\n\n\n3,4\n\n',
          [
            { a: '1', b: '2' },
            { a: '3', b: '4' },
          ],
        ],
        [
          'with names of JavaScript’s own',
          'constructor,toString\n1,2\n',
          [{ constructor: '1', toString: '2' }],
        ],
      ];
      for (const [title, csv, rows] of tables) {
        it(`reads a table ${title}`, () => {
          writeFileSync(input('t'), csv);
          assert.deepEqual(printed(language, 'inputs.table("t")'), rows);
        });
      }

      it('says where a table is broken', () => {
        for (const csv of ['a,b\n1,2,3\n', 'a\n"open\n', 'a\n"x"y\n']) {
          writeFileSync(input('t'), csv);
          const { status, errors } = run(language, language.print('inputs.table("t")'));
          assert.equal(status, 1, csv);
          assert.match(errors, /Error/);
        }
      });

      it('writes what it reads back the same', () => {
        const text = [
          'outputs.text("text", "a\\r\\nü")',
          'outputs.json("json", {"x": [1, 2.5, "ü"]})',
          'outputs.table("table", [{"a": "x, \\"y\\"\\nz", "b": 1}, {"a": NONE, "b": 2.5}])',
          'outputs.table("two", [{"a": 1, "b": 2}], ["b", "a"])',
          'outputs.table("none", [])',
        ].join('\n');
        const { errors } = run(
          language,
          text.replaceAll('NONE', language.name === 'Python' ? 'None' : 'null'),
        );
        assert.equal(errors, '');
        assert.equal(readFileSync(output('text'), 'utf8'), 'a\r\nü');
        assert.deepEqual(JSON.parse(readFileSync(output('json'), 'utf8')), { x: [1, 2.5, 'ü'] });
        assert.equal(readFileSync(output('table'), 'utf8'), 'a,b\n"x, ""y""\nz",1\n,2.5\n');
        assert.equal(readFileSync(output('two'), 'utf8'), 'b,a\n2,1\n');
        assert.equal(readFileSync(output('none'), 'utf8'), '');
      });

      it('writes no JSON that is none', () => {
        for (const value of language.name === 'Python'
          ? ['float("nan")', 'object()']
          : ['NaN', 'undefined']) {
          assert.equal(run(language, `outputs.json("bad", [${value}][0])`).status, 1, value);
          assert.equal(existsSync(output('bad')), false);
        }
      });

      it('takes no path for a port, and says when it runs elsewhere', () => {
        assert.match(run(language, 'inputs.path("../x")').errors, /not the name of a port/i);
        assert.match(
          run(language, 'inputs.path("x")', { SALLYPORT_INPUTS: '' }).errors,
          /SALLYPORT_INPUTS is not set/,
        );
      });

      it('tells progress within its bounds, and is silent where nobody listens', () => {
        const { progress } = run(
          language,
          'progress(0.5, "half\\nway")\nprogress(7)\nprogress(-1, "x" * 999)'.replace(
            '"x" * 999',
            language.name === 'Python' ? '"x" * 999' : '"x".repeat(999)',
          ),
        );
        const lines = String(progress)
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { fraction: number; text: string });
        assert.deepEqual(lines, [
          { fraction: 0.5, text: 'half\nway' },
          { fraction: 1, text: '' },
          { fraction: 0, text: 'x'.repeat(200) },
        ]);
        for (const descriptor of ['', '77', 'x', undefined]) {
          const quiet = run(language, 'progress(0.5)', { SALLYPORT_PROGRESS: descriptor });
          assert.deepEqual([quiet.status, quiet.errors], [0, '']);
        }
      });
    });
  }

  it('says what an optional input lacks', () => {
    writeFileSync(input('there'), '');
    assert.deepEqual(printed(languages[0]!, '["there" in inputs, "absent" in inputs]'), [true, false]);
    assert.deepEqual(printed(languages[1]!, '[inputs.has("there"), inputs.has("absent")]'), [true, false]);
  });

  it('are carried by the runner as text, by the paths that the sandbox shows', () => {
    const paths = Object.keys(loadHelpers());
    for (const path of [
      'egressBridge.cjs',
      'python/sallyport.py',
      'node/sallyport/package.json',
      'node/sallyport/index.mjs',
    ]) {
      assert.ok(paths.includes(path), path);
    }
  });
});

function lengthFor({ name }: Language): [RegExp, string] {
  return name === 'Python' ? [/^/, ''] : [/^len\((.*)\)$/, '$1.length'];
}
