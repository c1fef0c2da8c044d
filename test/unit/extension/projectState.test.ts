import assert from 'node:assert/strict';
import {
  emptyState,
  runningRuns,
  waitingPermissions,
  withDelta,
  withProject,
  withProjects,
} from '../../../extension/src/project/projectState.ts';
import { hostPermission, makeCard, makeProject, makeRun, makeStatus } from '../../support/sampleViews.ts';

const delta = (over = {}, status = makeStatus()) => ({
  summary: makeRun(over),
  cards: [{ id: 'load', status }],
});

describe('projectState', () => {
  it('puts a delta on the cards it names and on no other', () => {
    const project = makeProject({ cards: [makeCard(), makeCard({ id: 'means' })] });
    const state = withDelta(withProjects(emptyState, [project]), delta());
    assert.equal(state.projects[0]?.cards[0]?.status?.state, 'done');
    assert.equal(state.projects[0].cards[1]?.status, null);
    assert.equal(state.projects[0].runId, 'r1');
    assert.equal(runningRuns(state).length, 1);
  });

  it('leaves the cards alone for a run older than the one shown', () => {
    const state = withDelta(
      withProjects(emptyState, [makeProject()]),
      delta({ runId: 'r2', startedAt: 5000 }),
    );
    assert.equal(withDelta(state, delta({ startedAt: 1 })), state);
  });

  it('[PLACE-17] leaves the cards alone for a run that went on elsewhere, where they were part of a later one', () => {
    const status = makeStatus({ runId: 'r2', startedAt: 5000 });
    const cards = [makeCard({ status })];
    const state = withProjects(emptyState, [makeProject({ runId: 'r2', cards })]);
    const found = delta({ runId: 'r1', startedAt: 1000 }, makeStatus({ state: 'running' }));
    assert.equal(withDelta(state, found), state);
    // A later run than that is shown, and so is the run itself where it is the latest (control).
    const later = withDelta(state, delta({ runId: 'r3', startedAt: 6000 }));
    assert.equal(later.projects[0]?.runId, 'r3');
    const latest = withProjects(emptyState, [
      makeProject({ runId: 'r1', cards: [makeCard({ status: makeStatus() })] }),
    ]);
    assert.equal(withDelta(latest, found).projects[0]?.cards[0]?.status?.state, 'running');
  });

  it('replaces, adds and removes one project', () => {
    const state = withProjects(emptyState, [makeProject(), makeProject({ root: '/q' })]);
    assert.deepEqual(
      withProject(state, '/p', makeProject({ name: 'x' })).projects.map((each) => each.name),
      ['x', 'weather'],
    );
    assert.deepEqual(
      withProject(state, '/r', makeProject({ root: '/r' })).projects.map((each) => each.root),
      ['/p', '/q', '/r'],
    );
    const gone = withProject(withDelta(state, delta()), '/p', null);
    assert.deepEqual(
      gone.projects.map((each) => each.root),
      ['/q'],
    );
    assert.equal(gone.runs.size, 0);
  });

  it('lists what waits for a person', () => {
    const cards = [
      makeCard({ permissions: [hostPermission, { ...hostPermission, key: 'unsandboxed', accepted: true }] }),
    ];
    assert.deepEqual(waitingPermissions(makeProject({ cards })), ['load network:api.example.org']);
  });
});
