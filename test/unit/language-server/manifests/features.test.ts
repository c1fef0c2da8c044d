import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FormattingOptions, MarkupContent } from 'vscode-languageserver';
import fc from 'fast-check';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { codeLenses } from '../../../../language-server/src/manifests/codeLenses.ts';
import { completion } from '../../../../language-server/src/manifests/completion.ts';
import { formatting } from '../../../../language-server/src/manifests/formatting.ts';
import { hover } from '../../../../language-server/src/manifests/hover.ts';
import { definition, documentLinks } from '../../../../language-server/src/manifests/links.ts';
import {
  manifestContext,
  type ManifestContext,
} from '../../../../language-server/src/manifests/manifestContext.ts';
import { rename, renameRange } from '../../../../language-server/src/manifests/rename.ts';
import { documentSymbols } from '../../../../language-server/src/manifests/symbols.ts';
import { ProjectState } from '../../../../language-server/src/project/projectState.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('language features', () => {
  const temporary = useTemporaryFolder();
  let state: ProjectState;

  const pathOf = (card: string) => join(temporary(), 'cards', card, '_card.json');
  beforeEach(() => {
    writeProject(temporary(), {
      load: {
        title: 'Load **it**',
        outputs: { rows: { type: 'table', description: 'All <b>rows</b>' }, page: { type: 'html' } },
        view: { output: 'page' },
      },
      show: {
        inputs: { a: { type: 'table', from: 'load/rows' }, b: { type: 'file', from: 'load/page' } },
        outputs: { chart: { type: 'vega-lite' } },
      },
      last: { inputs: { c: { type: 'json', from: 'show/chart' } }, outputs: { done: { type: 'json' } } },
    });
    state = new ProjectState(temporary());
    state.refresh();
  });

  /** The context of a text with `|` at the cursor, which is taken out. */
  function at(card: string, marked: string): { context: ManifestContext; offset: number } {
    const offset = marked.indexOf('|');
    const text = marked.replace('|', '');
    const context = manifestContext(pathOf(card), text, state);
    assert.ok(context);
    return { context, offset };
  }
  const labels = (card: string, marked: string) => {
    const { context, offset } = at(card, marked);
    return completion(context, offset).items.map((item) => item.label);
  };
  /** The text after the first proposal with a label is taken. */
  const taken = (card: string, marked: string, label: string) => {
    const { context, offset } = at(card, marked);
    const item = completion(context, offset).items.find((each) => each.label === label);
    assert.ok(item?.textEdit && 'range' in item.textEdit, `no ${label}`);
    const document = TextDocument.create('file:///x', 'json', 1, context.text);
    return TextDocument.applyEdits(document, [item.textEdit]);
  };

  it('proposes the keys that are missing, those that are needed marked [MAN-04]', () => {
    assert.deepEqual(labels('show', '{ "outputs": { "o": { | } } }'), ['type', 'optional', 'description']);
    assert.deepEqual(labels('show', '{ "outputs": { "o": { "type": "json", "|" } } }'), [
      'optional',
      'description',
    ]);
    assert.ok(labels('show', '{ "params": { "p": { "type": "choice", "|" } } }').includes('choices'));
    assert.ok(!labels('show', '{ "params": { "p": { "type": "boolean", "|" } } }').includes('minimum'));
    assert.deepEqual(labels('show', '{ "inputs": { | } }'), []);
    assert.deepEqual(labels('show', '{ "permissions": { "network": [ "|" ] } }'), []);
  });

  it('writes what is proposed so that JSON comes of it', () => {
    assert.equal(taken('show', '{ | }', 'version'), '{ "version": ${1:1} }');
    assert.equal(taken('show', '{ "ver|" }', 'version'), '{ "version": ${1:1} }');
    assert.equal(taken('show', '{ "titl|": "x" }', 'title'), '{ "title": "x" }');
    assert.equal(taken('show', '{ |\n"title": "x" }', 'inputs'), '{ "inputs": {$0},\n"title": "x" }');
    assert.equal(taken('show', '{ "runtime": | }', 'node'), '{ "runtime": "node" }');
    assert.equal(taken('show', '{ "runtime": "p|" }', 'python'), '{ "runtime": "python" }');
    assert.equal(
      taken('show', '{ "permissions": { "sandbox": | } }', 'false'),
      '{ "permissions": { "sandbox": false } }',
    );
    assert.equal(taken('show', '{ "$sch|" }', 'view'), '{ "view": {$0} }');
  });

  it('proposes for a wire what fits, equal types first, and nothing that closes a circle [MAN-04]', () => {
    assert.deepEqual(labels('show', '{ "inputs": { "x": { "type": "file", "from": "|" } } }'), [
      'load/rows',
      'load/page',
    ]);
    assert.deepEqual(labels('last', '{ "inputs": { "x": { "type": "json", "from": "|" } } }'), [
      'show/chart',
    ]);
    assert.deepEqual(labels('load', '{ "inputs": { "x": { "type": "json", "from": "|" } } }'), []);
    assert.deepEqual(labels('show', '{ "inputs": { "x": { "from": "|" } } }'), ['load/rows', 'load/page']);
  });

  it('proposes own outputs, files and choices', () => {
    assert.deepEqual(
      labels('show', '{ "outputs": { "chart": { "type": "json" } }, "view": { "output": "|" } }'),
      ['chart'],
    );
    assert.deepEqual(labels('show', '{ "entry": "|" }'), ['main.py']);
    assert.deepEqual(
      labels('show', '{ "params": { "p": { "type": "choice", "choices": ["a", "b"], "default": "|" } } }'),
      ['a', 'b'],
    );
  });

  /** A text after its own formatting, as a whole or from `|` to the end. */
  const formatted = (marked: string, options: Partial<FormattingOptions> = {}) => {
    const { context, offset } = at('show', marked);
    const edits = formatting(
      context,
      { tabSize: 2, insertSpaces: true, ...options },
      offset < 0 ? undefined : { start: offset, end: context.text.length },
    );
    return TextDocument.applyEdits(TextDocument.create('file:///x', 'json', 1, context.text), edits);
  };

  it('lays a manifest out, with the line ends and the indent of the editor [MAN-13]', () => {
    assert.equal(formatted('{"a":1,\n"b":[ 1,2 ]}'), '{\n  "a": 1,\n  "b": [\n    1,\n    2\n  ]\n}');
    assert.equal(
      formatted('{"a":1,\r\n"b":{}}', { insertSpaces: false }),
      '{\r\n\t"a": 1,\r\n\t"b": {}\r\n}',
    );
    assert.equal(formatted('{}', { insertFinalNewline: true }), '{}\n');
    assert.equal(formatted('{"a":  1,\n|  "b":  2}'), '{"a":  1,\n  "b": 2\n}');
    assert.equal(formatted(''), '');
  });

  it('changes nothing but white space, in a broken text as well [MAN-13]', () => {
    const bare = (text: string) => text.replace(/\s/g, '');
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value).replaceAll('|', '');
        assert.deepEqual(JSON.parse(formatted(text)), JSON.parse(text));
      }),
    );
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(
            '{',
            '}',
            '[',
            ']',
            '"',
            ',',
            ':',
            ' ',
            '\n',
            '\r\n',
            'a',
            '1',
            '/',
            '*',
            '\\',
          ),
        }),
        (text) => assert.equal(bare(formatted(text)), bare(text)),
      ),
    );
  });

  const hoverText = (card: string, marked: string) => {
    const { context, offset } = at(card, marked);
    return (hover(context, offset)?.contents as MarkupContent | undefined)?.value;
  };

  it('explains keys, values, limits and sources, with a file’s text escaped [MAN-10]', () => {
    assert.match(hoverText('show', '{ "runt|ime": "js" }') ?? '', /What runs the entry/);
    assert.match(hoverText('show', '{ "runtime": "j|s" }') ?? '', /QuickJS/);
    assert.match(hoverText('show', '{ "limits": { "sec|onds": 3 } }') ?? '', /Where it is absent: 300/);
    const source =
      hoverText('show', '{ "inputs": { "a": { "type": "table", "from": "load/|rows" } } }') ?? '';
    assert.match(source, /Load \\\*\\\*it\\\*\\\*/);
    assert.match(source, /All \\<b\\>rows/);
    assert.match(
      hoverText('show', '{ "inputs": { "a": { "from": "load/|toString" } } }') ?? '',
      /No such output/,
    );
    assert.equal(hoverText('show', '{ | }'), undefined);
  });

  it('says of a permission what a person will be asked [MAN-10]', () => {
    const text = JSON.stringify({
      ...(JSON.parse(readFileSync(pathOf('show'), 'utf8')) as object),
      permissions: { network: ['a.example'], sandbox: false },
    });
    writeFileSync(pathOf('show'), text);
    state.refresh();
    assert.match(
      hoverText('show', text.replace('a.example', 'a.|example')) ?? '',
      /Reach a\\\.example over the network/,
    );
    assert.match(hoverText('show', text.replace('"sandbox"', '"sand|box"')) ?? '', /project’s own files/);
  });

  it('leads from a wire to its output and from the entry to the file', () => {
    const { context, offset } = at(
      'show',
      '{ "entry": "main.py", "inputs": { "a": { "from": "load/|rows" } } }',
    );
    const place = definition(context, offset);
    assert.equal(place?.uri, pathToFileURL(pathOf('load')).href);
    const line = readFileSync(pathOf('load'), 'utf8');
    assert.equal(line.slice(place.range.start.character, place.range.end.character), '"rows"');
    assert.deepEqual(
      documentLinks(context).map((link) => link.target),
      [pathToFileURL(join(temporary(), 'cards/show/main.py')).href],
    );
    assert.deepEqual(documentLinks(at('show', '{ "entry": "../load/main.py" }|').context), []);
  });

  it('renames an output wherever it is named [MAN-11]', () => {
    const text = readFileSync(pathOf('load'), 'utf8');
    const { context } = at('load', `${text}|`);
    const offset = text.indexOf('"page"') + 2;
    assert.equal(renameRange(context, offset)?.placeholder, 'page');
    const changes = rename(context, offset, 'site')?.changes ?? {};
    for (const [uri, edits] of Object.entries(changes)) {
      const path = uri.endsWith('load/_card.json') ? pathOf('load') : pathOf('show');
      const document = TextDocument.create(uri, 'json', 1, readFileSync(path, 'utf8'));
      writeFileSync(path, TextDocument.applyEdits(document, edits));
    }
    assert.equal(Object.keys(changes).length, 2);
    state.refresh();
    assert.deepEqual(
      [...(state.loaded?.cards.values() ?? [])].flatMap((card) => card.problems),
      [],
    );
    assert.match(readFileSync(pathOf('load'), 'utf8'), /"view":\{"output":"site"\}/);
    assert.match(readFileSync(pathOf('show'), 'utf8'), /"load\/site"/);
  });

  it('outlines a manifest, a hostile one as well', () => {
    const symbols = documentSymbols(at('show', '{ "outputs": { "o": { "type": "json" } }, "": 1 }|').context);
    assert.deepEqual(
      symbols.map((each) => each.name),
      ['outputs', '""'],
    );
    assert.equal(symbols[0]?.children?.[0]?.detail, 'json');
    const many = `{${Array.from({ length: 5000 }, (_, index) => `"k${index}":${index}`).join(',')}}|`;
    assert.equal(documentSymbols(at('show', many).context).length, 2000);
  });

  it('shows no lens without a project, and the record of the last run where there is one [MAN-05]', () => {
    const { context } = at('show', `${readFileSync(pathOf('show'), 'utf8')}|`);
    assert.deepEqual(
      codeLenses(context, undefined).map((lens) => lens.command?.command),
      ['sallyport.runCard', ''],
    );
    const status = {
      runId: 'r1',
      cardRunId: 'c1',
      state: 'failed',
      cached: false,
      reason: null,
      exitCode: 1,
      isolation: null,
      runMs: 1500,
      waitMs: 0,
      startedAt: 1,
      finishedAt: 2,
      outputBytes: 0,
      progress: null,
    } as const;
    const lens = codeLenses(context, { status, waiting: 0 })[1]?.command;
    assert.equal(lens?.title, 'Last run: failed, 1.5 s');
    assert.deepEqual(lens.arguments, [{ root: temporary(), card: 'show', runId: 'r1' }]);
    const loose = manifestContext('/elsewhere/_card.json', '{}', undefined);
    assert.deepEqual(loose && codeLenses(loose, undefined), []);
    const project = manifestContext(join(temporary(), 'sallyport.json'), '{}', state);
    assert.deepEqual(project && codeLenses(project, undefined).map((each) => each.command?.command), [
      'sallyport.runProject',
      'sallyport.openCanvas',
    ]);
  });

  it('answers nothing about broken, empty and too deep text, and never throws', () => {
    for (const text of [
      '',
      '|',
      '{',
      '{"a',
      '[',
      '['.repeat(5000),
      '{"a":'.repeat(5000),
      '\ud800',
      '{"inputs":{"a":{"from":"',
      '{"x":1}}}}',
    ]) {
      const marked = text.includes('|') ? text : `${text}|`;
      const { context, offset } = at('show', marked);
      completion(context, offset);
      hover(context, offset);
      definition(context, offset);
      rename(context, offset, 'x');
      documentLinks(context);
      documentSymbols(context);
      codeLenses(context, undefined);
    }
  });
});
