import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CodeAction, CodeLens, CompletionList, Diagnostic, Hover } from 'vscode-languageserver';
import type { ProjectView } from '../../../../protocol/src/engine.ts';
import { limits } from '../../../../protocol/src/limits.ts';
import { buildEngine, EngineProcess } from '../../../support/builtEngine.ts';
import { writeCard, writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const sample = resolve(import.meta.dirname, '../../../../test-fixtures/projects/seattle-weather');

describe('the engine process', () => {
  const temporary = useTemporaryFolder();
  let built: Awaited<ReturnType<typeof buildEngine>>;
  let engine: EngineProcess | undefined;

  before(async () => {
    built = await buildEngine();
  });
  after(() => built.dispose());
  afterEach(async () => {
    await engine?.kill();
    engine = undefined;
  });

  const project = () => join(temporary(), 'project');
  const start = async () => {
    engine = await EngineProcess.start({
      file: built.file,
      home: join(temporary(), 'home'),
      folder: project(),
    });
    return engine;
  };
  const manifestOf = (card: string) => join(project(), 'cards', card, '_card.json');
  const uriOf = (card: string) => pathToFileURL(manifestOf(card)).href;
  const codes = (found: readonly Diagnostic[] | undefined) => (found ?? []).map((each) => each.code);

  it('checks a project without an open editor and follows what an editor types [MAN-01]', async () => {
    writeProject(project(), { load: {}, show: { inputs: { a: { type: 'text', from: 'laod/out' } } } });
    const client = await start();
    await client.until('the wire is reported', () => codes(client.diagnostics.get(uriOf('show'))).length > 0);
    assert.deepEqual(codes(client.diagnostics.get(uriOf('show'))), ['unknown-card']);

    const text = readFileSync(manifestOf('show'), 'utf8').replace('laod/out', 'load/out');
    await client.open(manifestOf('show'), text);
    await client.until('the wire is accepted', () => client.diagnostics.get(uriOf('show'))?.length === 0);
  });

  it('hears of files that change on disk [MAN-02]', async () => {
    writeProject(project(), { load: {} });
    const client = await start();
    rmSync(join(project(), 'cards/load/main.py'));
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', {
      changes: [{ uri: pathToFileURL(join(project(), 'cards/load/main.py')).href, type: 3 }],
    });
    await client.until('the entry is missed', () => codes(client.diagnostics.get(uriOf('load'))).length > 0);
    assert.deepEqual(codes(client.diagnostics.get(uriOf('load'))), ['missing-entry']);

    const fixes = await actionsAt(
      client,
      await client.open(manifestOf('load'), readFileSync(manifestOf('load'), 'utf8')),
    );
    assert.deepEqual(
      fixes.map((fix) => fix.title),
      ['Create “main.py”'],
    );
  });

  it('mends an unknown key by its quick fix [MAN-03]', async () => {
    writeProject(project(), { load: {} });
    const text = readFileSync(manifestOf('load'), 'utf8').replace('"title"', '"titel"');
    const client = await start();
    const uri = await client.open(manifestOf('load'), text);
    const fixes = await actionsAt(client, uri);
    const fix = fixes.find((each) => each.title === 'Change to “title”');
    const [edit] = fix?.edit?.changes?.[uri] ?? [];
    assert.equal(edit?.newText, '"title"');
    assert.equal(text.slice(edit.range.start.character, edit.range.end.character), '"titel"');
  });

  it('tells the problems of a manifest in no project whatever is asked of it meanwhile [START-04]', async () => {
    writeProject(project(), {});
    const client = await start();
    const path = join(temporary(), 'loose', '_card.json');
    const ask = (uri: string) =>
      client.connection.sendRequest('textDocument/hover', {
        textDocument: { uri },
        position: { line: 0, character: 4 },
      });
    const uri = await client.open(path, '{ "version": 1, "titel": "Loose" }');
    await ask(uri);
    await client.until('they are told', () => codes(client.diagnostics.get(uri)).includes('unknown-key'));

    const other = await client.open(join(temporary(), 'other', '_card.json'), '{ "version": 1 }');
    await client.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
    await ask(other);
    await client.until('they are taken back', () => client.diagnostics.get(uri)?.length === 0);
  });

  it('proposes keys, values and outputs that fit [MAN-04]', async () => {
    writeProject(project(), {
      load: { outputs: { rows: { type: 'table' }, words: { type: 'text' } } },
      show: {},
    });
    const client = await start();
    const text = '{ "version": 1, "inputs": { "a": { "type": "text", "from": "" } },  }';
    const uri = await client.open(manifestOf('show'), text);
    const propose = async (offset: number) => {
      const list = await client.connection.sendRequest<CompletionList>('textDocument/completion', {
        textDocument: { uri },
        position: { line: 0, character: offset },
      });
      return list.items.map((item) => item.label);
    };
    assert.deepEqual(await propose(text.indexOf('""') + 1), ['load/words']);
    assert.ok((await propose(text.length - 2)).includes('runtime'));
    const hover = await client.connection.sendRequest<Hover>('textDocument/hover', {
      textDocument: { uri },
      position: { line: 0, character: 4 },
    });
    assert.match(JSON.stringify(hover.contents), /version of this file format/);
  });

  it('shows above a card how to run it and what it may reach [MAN-05]', async () => {
    writeProject(project(), { load: { permissions: { network: ['api.example.org:443'] } } });
    const client = await start();
    const uri = await client.open(manifestOf('load'), readFileSync(manifestOf('load'), 'utf8'));
    const lenses = await client.connection.sendRequest<CodeLens[]>('textDocument/codeLens', {
      textDocument: { uri },
    });
    assert.deepEqual(
      lenses.map((lens) => [lens.command?.command, lens.command?.arguments?.[0] as unknown]),
      [
        ['sallyport.runCard', { root: project(), card: 'load' }],
        ['sallyport.reviewPermissions', { root: project(), card: 'load' }],
      ],
    );
    assert.match(lenses[1]?.command?.title ?? '', /Review 1 of 1: Reach api\.example\.org:443/);
  });

  it('answers a request of the contract and one that is against it', async () => {
    cpSync(sample, project(), { recursive: true });
    const client = await start();
    const views = await client.connection.sendRequest<ProjectView[]>('project/list', {});
    assert.deepEqual(
      views.map((view) => view.name),
      ['seattle-weather'],
    );
    await assert.rejects(client.connection.sendRequest('project/get', { rooot: 1 }), {
      data: { code: 'bad-message', data: { method: 'project/get' } },
    });
    await assert.rejects(client.connection.sendRequest('project/get', { root: '/nowhere' }), {
      data: { code: 'no-project', data: { root: '/nowhere' } },
    });
    await client.connection.sendNotification('trust/set', { trusted: 'yes' });
    await client.until('the bad messages are counted', () =>
      client.logged.some((line) => /Bad message 2, trust\/set/.test(line)),
    );
  });

  it('takes no request before it was initialized, and none without options', async () => {
    engine = new EngineProcess(built.file);
    await assert.rejects(
      engine.connection.sendRequest('initialize', {
        processId: null,
        capabilities: {},
        workspaceFolders: null,
        initializationOptions: { home: 3 },
      }),
      /options that do not fit/,
    );
  });

  it('opens no database while only manifests are edited', async () => {
    writeProject(project(), { load: {} });
    const client = await start();
    await client.open(manifestOf('load'), '{');
    await client.until('the broken text is reported', () =>
      codes(client.diagnostics.get(uriOf('load'))).includes('syntax'),
    );
    assert.equal(existsSync(join(temporary(), 'home')), false);
  });

  it('skips a message over the limit and one that is no JSON, and goes on', async () => {
    writeProject(project(), { load: {} });
    const client = await start();
    const { stdin } = client.child;
    const huge = JSON.stringify({ jsonrpc: '2.0', method: 'x', params: 'y'.repeat(limits.messageBytes) });
    stdin.write(`Content-Length: ${huge.length}\r\n\r\n${huge}`);
    stdin.write('Content-Length: 5\r\n\r\n{"a":');
    stdin.write('Content-Length: 2\r\n\r\n[]');
    stdin.write('Content-Length: 4\r\nContent-Type: x\r\n\r\n');
    stdin.write(Buffer.from([0xff, 0xfe, 0xfd, 0xfc]));
    assert.deepEqual(
      await client.connection.sendRequest('project/list', {}).then((list) => (list as unknown[]).length),
      1,
    );
    assert.equal(client.logged.filter((line) => line.includes('Failed to read')).length, 4);
  });

  it('says of an open text over the limit that it is, and nothing else', async () => {
    writeProject(project(), { load: {} });
    const client = await start();
    const uri = await client.open(manifestOf('load'), `{${'[{"a":'.repeat(limits.manifestBytes / 4)}`);
    await client.until('it is reported', () => client.diagnostics.has(uri));
    assert.deepEqual(codes(client.diagnostics.get(uri)), ['too-large']);
    for (const method of [
      'textDocument/hover',
      'textDocument/completion',
      'textDocument/codeLens',
      'textDocument/documentSymbol',
    ]) {
      const params = { textDocument: { uri }, position: { line: 0, character: 9 } };
      assert.equal(await client.connection.sendRequest(method, params), null);
    }
  });

  it('speaks over Node’s own channel as well, and ends with it', async () => {
    writeProject(project(), { load: {} });
    const child = fork(built.file, ['--node-ipc'], { stdio: 'ignore' });
    const exited = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
    const answer = new Promise<unknown>((done) => child.on('message', done));
    const initializationOptions = { home: join(temporary(), 'home'), trusted: false };
    const params = { processId: null, workspaceFolders: null, capabilities: {}, initializationOptions };
    child.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    assert.match(JSON.stringify(await answer), /"completionProvider"/);
    child.disconnect();
    assert.equal(await exited, 1);
  });

  it('ends at a signal', async () => {
    const client = await startEmpty();
    client.child.kill('SIGTERM');
    assert.equal(await client.exited, 0);
  });

  it('ends where the head of a message is none', async () => {
    const client = await startEmpty();
    client.child.stdin.write('Content-Length: many\r\n\r\n');
    assert.equal(await client.exited, 1);
  });

  it('ends when its parent closes the stream, and when it is told to', async () => {
    const left = await startEmpty();
    left.child.stdin.end();
    assert.equal(await left.exited, 1);
    const told = await startEmpty();
    assert.equal(await told.stop(), 0);
  });

  it('leaves nothing half-written when it is killed', async () => {
    writeProject(project(), { load: {} });
    const first = await start();
    await first.connection.sendRequest('project/list', {});
    await first.kill();
    const second = await start();
    assert.equal((await second.connection.sendRequest<ProjectView[]>('project/list', {})).length, 1);
  });

  it('says of a manifest outside any project that it is in none', async () => {
    writeProject(project(), {});
    writeCard(temporary(), 'loose', {});
    const path = join(temporary(), 'cards/loose/_card.json');
    const client = await start();
    const uri = await client.open(path, readFileSync(path, 'utf8'));
    await client.until('it is reported', () => client.diagnostics.has(uri));
    assert.deepEqual(codes(client.diagnostics.get(uri)), ['not-in-project']);
  });

  it('learns of a project that is made while it runs', async () => {
    mkdirSync(project());
    const client = await start();
    writeProject(project(), { load: { entry: 'other.py' } });
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', {
      changes: [{ uri: pathToFileURL(join(project(), 'sallyport.json')).href, type: 1 }],
    });
    await client.until('the entry is missed', () =>
      codes(client.diagnostics.get(uriOf('load'))).includes('missing-entry'),
    );
    writeFileSync(join(project(), 'cards/load/other.py'), '');
  });

  async function startEmpty(): Promise<EngineProcess> {
    mkdirSync(project(), { recursive: true });
    await engine?.kill();
    return start();
  }

  async function actionsAt(client: EngineProcess, uri: string): Promise<CodeAction[]> {
    return client.connection.sendRequest<CodeAction[]>('textDocument/codeAction', {
      textDocument: { uri },
      range: { start: { line: 0, character: 0 }, end: { line: 999, character: 0 } },
      context: { diagnostics: [] },
    });
  }
});
