import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openProjects } from '../../../../language-server/src/project/nodeProjects.ts';
import { findProjects } from '../../../../language-server/src/project/findProjects.ts';
import { ProjectIndex } from '../../../../language-server/src/project/projectIndex.ts';
import { inputsFrom, writeCard, writeProject } from '../../../support/projectFolder.ts';
import { asOrdinaryUser, useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('ProjectIndex', () => {
  const temporary = useTemporaryFolder();
  const root = () => join(temporary(), 'project');
  const codes = (index: ProjectIndex, card?: string) => {
    const project = index.get(root());
    const problems = card === undefined ? project.problems : (project.cards.get(card)?.problems ?? []);
    return problems.map((each) => each.code);
  };

  it('loads cards in an order that follows their wires', () => {
    writeProject(root(), { b: { inputs: inputsFrom('c') }, c: {}, a: { inputs: inputsFrom('b') } });
    const project = openProjects({ roots: [root()] }).get(root());
    assert.deepEqual([...project.cards.keys()], ['a', 'b', 'c']);
    assert.deepEqual(project.graph.order, ['c', 'b', 'a']);
  });

  it('says where there is no project', () => {
    mkdirSync(root());
    const index = openProjects({ roots: [root()] });
    assert.throws(() => index.get(root()), { code: 'no-project' });
    assert.throws(() => index.get('/elsewhere'), { code: 'no-project' });
    assert.deepEqual(index.list(), []);
    writeProject(root(), {});
    assert.equal(index.refresh(root()).manifest?.name, 'made');
    rmSync(join(root(), 'sallyport.json'));
    assert.throws(() => index.refresh(root()), { code: 'no-project' });
  });

  it('keeps what did not change and reads what did [MAN-02]', () => {
    writeProject(root(), { a: {}, b: {} });
    const index = openProjects({ roots: [root()] });
    const changes: string[] = [];
    index.onDidChange((changed) => changes.push(changed));
    const before = index.get(root());
    assert.equal(index.refresh(root()), before);
    assert.deepEqual(changes, []);
    writeCard(root(), 'a', { title: 'Card A' });
    const after = index.refresh(root());
    assert.equal(after.cards.get('a')?.manifest?.title, 'Card A');
    assert.equal(after.cards.get('b'), before.cards.get('b'));
    assert.deepEqual(changes, [root()]);
  });

  it('sees an edit of equal size within one tick of the clock', () => {
    writeProject(root(), { a: { title: 'aaa' } });
    const index = openProjects({ roots: [root()] });
    index.get(root());
    for (const title of ['bbb', 'ccc', 'ddd']) {
      writeCard(root(), 'a', { title });
      assert.equal(index.refresh(root()).cards.get('a')?.manifest?.title, title);
    }
  });

  it('follows cards and entries that come, go and turn into something else', () => {
    writeProject(root(), { a: {}, b: { inputs: inputsFrom('a') } });
    const index = openProjects({ roots: [root()] });
    assert.deepEqual(codes(index, 'b'), []);
    rmSync(join(root(), 'cards/a'), { recursive: true });
    index.refresh(root());
    assert.deepEqual(codes(index, 'b'), ['unknown-card']);
    writeCard(root(), 'a', {});
    rmSync(join(root(), 'cards/b/main.py'));
    index.refresh(root());
    assert.deepEqual(codes(index, 'b'), ['missing-entry']);
    mkdirSync(join(root(), 'cards/b/main.py'));
    index.refresh(root());
    assert.deepEqual(codes(index, 'b'), ['entry-not-file']);
    rmSync(join(root(), 'cards/b/_card.json'));
    mkdirSync(join(root(), 'cards/b/_card.json'));
    index.refresh(root());
    assert.deepEqual(codes(index, 'b'), ['not-a-file']);
  });

  it('follows no link: of a card, of its manifest, of its entry, of the folder of cards [MAN-09]', () => {
    writeProject(root(), { a: {} });
    writeProject(join(temporary(), 'outside'), { secret: {}, a: {} });
    const outside = join(temporary(), 'outside/cards');
    symlinkSync(join(outside, 'secret'), join(root(), 'cards/secret'));
    symlinkSync('secret', join(root(), 'cards/again'));
    symlinkSync('.', join(root(), 'cards/circle'));
    symlinkSync('nowhere', join(root(), 'cards/broken'));
    const index = openProjects({ roots: [root()] });
    assert.deepEqual([...index.get(root()).cards.keys()], ['a']);
    assert.ok(codes(index).every((code) => code === 'folder-is-link'));

    for (const name of ['main.py', '_card.json']) {
      rmSync(join(root(), 'cards/a', name));
      symlinkSync(join(outside, 'a', name), join(root(), 'cards/a', name));
      index.refresh(root());
      assert.deepEqual(codes(index, 'a').at(-1), name === 'main.py' ? 'entry-not-file' : 'not-a-file');
    }
    assert.equal(index.get(root()).cards.get('a')?.manifest, null);

    rmSync(join(root(), 'cards'), { recursive: true });
    symlinkSync(outside, join(root(), 'cards'));
    assert.equal(index.refresh(root()).cards.size, 0);
    assert.deepEqual(codes(index), ['folder-is-link']);
  });

  it('would follow the links with plain file calls', () => {
    writeProject(root(), { a: {} });
    writeProject(join(temporary(), 'outside'), { secret: {} });
    symlinkSync(join(temporary(), 'outside/cards/secret'), join(root(), 'cards/secret'));
    assert.match(readFileSync(join(root(), 'cards/secret/_card.json'), 'utf8'), /Card secret/);
  });

  it('leaves out dependencies, hidden folders and folders without a manifest', () => {
    writeProject(root(), { a: {}, node_modules: {}, '.hidden': {} });
    mkdirSync(join(root(), 'cards/notes'));
    assert.deepEqual(
      [
        ...openProjects({ roots: [root()] })
          .get(root())
          .cards.keys(),
      ],
      ['a'],
    );
  });

  it('runs neither of two cards with one id', () => {
    writeProject(root(), { a: {} });
    renameSync(join(root(), 'cards'), join(root(), 'more'));
    writeProject(root(), { a: {} });
    writeFileSync(join(root(), 'sallyport.json'), '{"version":1,"name":"x","cards":["cards/*","more/*"]}');
    const index = openProjects({ roots: [root()] });
    assert.deepEqual(codes(index), ['duplicate-card']);
    assert.deepEqual(codes(index, 'a'), ['duplicate-card']);
    assert.equal(index.get(root()).cards.get('a')?.manifest, null);
    rmSync(join(root(), 'more'), { recursive: true });
    index.refresh(root());
    assert.ok(index.get(root()).cards.get('a')?.manifest);
  });

  it('goes on where folders can’t be read', async () => {
    writeProject(root(), { a: {}, b: {} });
    chmodSync(join(root(), 'cards/b'), 0);
    await asOrdinaryUser(temporary(), async () => {
      const index = openProjects({ roots: [root()] });
      assert.deepEqual(codes(index, 'b').slice(0, 1), ['unreadable']);
      assert.deepEqual(codes(index, 'a'), []);
      chmodSync(join(root(), 'cards'), 0);
      index.refresh(root());
      assert.deepEqual(codes(index), ['folder-unreadable']);
      chmodSync(join(root(), 'cards'), 0o755);
    });
  });

  it('takes the text of an open editor for the file until it is closed', () => {
    writeProject(root(), { a: {}, b: { inputs: inputsFrom('a') } });
    const path = join(root(), 'cards/a/_card.json');
    let open: string | undefined;
    const index = new ProjectIndex({
      roots: [root()],
      openText: (file) => (file === path ? open : undefined),
    });
    assert.deepEqual(codes(index, 'b'), []);
    open = readFileSync(path, 'utf8').replace('"out"', '"other"');
    index.textChanged(path);
    assert.deepEqual(codes(index, 'b'), ['unknown-port']);
    open = undefined;
    index.textChanged(path);
    assert.deepEqual(codes(index, 'b'), []);
  });

  it('finds the projects of a folder, and none below a project', () => {
    for (const name of [
      'one',
      'deep/er/two',
      'node_modules/three',
      '.git/four',
      'one/inner',
      'a/b/c/d/e/far',
    ]) {
      writeProject(join(temporary(), name), {});
    }
    symlinkSync(temporary(), join(temporary(), 'circle'));
    assert.deepEqual(findProjects(temporary()), [join(temporary(), 'one'), join(temporary(), 'deep/er/two')]);
  });
});
