import assert from 'node:assert/strict';
import { join } from 'node:path';
import { openHome } from '../../../../language-server/src/store/home.ts';
import { openStore } from '../../../../language-server/src/store/store.ts';
import { Database } from '../../../../language-server/src/store/database.ts';
import { egressOfPrincipals, EgressRecords } from '../../../../language-server/src/store/egressRecords.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const record = (host: string): EgressRecord => ({
  jobId: 'j',
  at: 1,
  method: 'GET',
  host,
  port: 443,
  verdict: 'allowed',
  reason: 'a public address',
  sentBytes: 0,
  receivedBytes: 1,
});

describe('egress log', () => {
  const folder = useTemporaryFolder();

  it('[NET-04] holds the requests of cards and of other principals in one order, by project', () => {
    const store = openStore(openHome(join(folder(), 'state')));
    try {
      const run = {
        id: 'r1',
        engine: store.engineId,
        project: 'p',
        root: '/p',
        projectName: 'p',
        startedAt: 1,
      };
      const seq = store.runs.insert(run);
      store.egress.append(seq, 'a', record('one'));
      store.egress.appendOf('agent', 'p', record('two'));
      store.egress.appendOf('external-agent', 'q', record('three'));
      store.egress.append(seq, 'a', record('four'));
      const told = (project?: string) =>
        store.egress
          .list(project, undefined, 10)
          .records.map(({ host, card, runId, principal }) => [host, card, runId, principal]);
      assert.deepEqual(told('p'), [
        ['four', 'a', 'r1', undefined],
        ['two', '', '', 'agent'],
        ['one', 'a', 'r1', undefined],
      ]);
      assert.deepEqual(
        told().map(([host]) => host),
        ['four', 'three', 'two', 'one'],
      );
      const { records, last } = store.egress.list('p', undefined, 2);
      assert.deepEqual(
        records.map(({ host }) => host),
        ['four', 'two'],
      );
      assert.deepEqual(
        store.egress.list('p', last, 2).records.map(({ host }) => host),
        ['one'],
      );
      // A run that is forgotten takes its own requests along, and no other's.
      store.runs.remove(seq);
      assert.deepEqual(
        told('p').map(([host]) => host),
        ['two'],
      );
    } finally {
      store.close();
    }
  });

  it('keeps what an earlier version has written, in its order', () => {
    const database = new Database(':memory:');
    try {
      database.exec(`create table runs (seq integer primary key, id text, project text);
        insert into runs values (1, 'r1', 'p');
        create table egress (seq integer primary key autoincrement,
          run integer not null references runs (seq) on delete cascade, card text not null, record_json text not null);
        create index egress_by_run on egress (run);`);
      for (const host of ['one', 'two'])
        database.run(
          "insert into egress (run, card, record_json) values (1, 'a', ?)",
          JSON.stringify(record(host)),
        );
      database.exec(egressOfPrincipals);
      const egress = new EgressRecords(database);
      egress.append(1, 'a', record('three'));
      assert.deepEqual(
        egress.list('p', undefined, 10).records.map(({ host }) => host),
        ['three', 'two', 'one'],
      );
    } finally {
      database.close();
    }
  });
});
