import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { positionAt } from '../../../../language-server/src/manifests/positions.ts';
import { ProjectState } from '../../../../language-server/src/project/projectState.ts';
import type { Problem } from '../../../../language-server/src/project/model.ts';
import { assertGolden } from '../../../support/golden.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const fixtures = resolve(import.meta.dirname, '../../../../test-fixtures/manifests');
const expectation = 'expected.txt';

interface Found {
  readonly path: string;
  readonly problem: Problem;
}

function load(root: string): { readonly state: ProjectState; readonly found: readonly Found[] } {
  const state = new ProjectState(root);
  state.refresh();
  const { loaded } = state;
  assert.ok(loaded, `${root} holds no project`);
  const found = [loaded, ...loaded.cards.values()].flatMap(({ manifestPath, problems }) =>
    problems.map((problem) => ({ path: manifestPath, problem })),
  );
  return { state, found };
}

/** Reads a manifest as an editor does: without the byte order mark. */
function textOf(path: string): string {
  return new TextDecoder('utf-8').decode(readFileSync(path));
}

describe('the manifests under test-fixtures/manifests', () => {
  const temporary = useTemporaryFolder();
  const cases = readdirSync(fixtures);
  assert.ok(cases.length > 0);

  for (const name of cases) {
    const root = join(fixtures, name);

    it(`says what is wrong with ${name} [MAN-01]`, () => {
      const { state, found } = load(root);
      const lines = found.map(({ path, problem }) => {
        const starts = state.linesOf(path) ?? Uint32Array.of(0);
        const [from, to] = [positionAt(starts, problem.start), positionAt(starts, problem.end)];
        const place = `${from.line + 1}:${from.character + 1}-${to.line + 1}:${to.character + 1}`;
        const fix = problem.fix ? `\n    fix: ${problem.fix.title} ${JSON.stringify(problem.fix.text)}` : '';
        const far = (problem.related ?? []).map(
          (each) => `\n    see: ${relative(root, each.path)} ${each.message}`,
        );
        return `${relative(root, path)}:${place} ${problem.severity} ${problem.code}\n    ${problem.message}${fix}${far.join('')}\n`;
      });
      const order = `order: ${state.loaded?.graph.order.join(' ') ?? ''}\n`;
      assertGolden(join(root, expectation), lines.join('') + order);
    });

    it(`mends ${name} by its quick fixes [MAN-03]`, () => {
      for (const { path, problem } of load(root).found) {
        if (!problem.fix) continue;
        const copy = join(temporary(), 'project');
        cpSync(root, copy, { recursive: true });
        const file = join(copy, relative(root, path));
        const before = textOf(file);
        writeFileSync(
          file,
          before.slice(0, problem.fix.start) + problem.fix.text + before.slice(problem.fix.end),
        );
        const same = (each: Found) =>
          each.problem.message === problem.message && each.path.endsWith(relative(root, path));
        const left = load(copy).found.filter(same).length;
        const was = load(root).found.filter(same).length;
        assert.ok(left < was, `${problem.fix.title} leaves “${problem.message}” in ${name}`);
      }
    });
  }
});
