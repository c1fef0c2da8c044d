import { statfsSync } from 'node:fs';
import type { ResultOf } from '../../protocol/src/contract.ts';
import type { engineSide } from '../../protocol/src/engine.ts';
import { errorMessage } from '../../protocol/src/errors.ts';
import type { IsolationCheck, IsolationReport } from '../../protocol/src/runner.ts';
import { text } from './store/database.ts';
import type { LocalRunner, RunnerInfo } from './runners/local.ts';
import type { Store } from './store/store.ts';

export type DoctorReport = ResultOf<(typeof engineSide)['requests']['doctor/report']>;

/** Looks at everything that running cards needs: the runner and its isolation, probed anew, and the store. */
export async function doctorReport(engine: {
  readonly store: Store;
  readonly runner: Pick<LocalRunner, 'ready' | 'probe'>;
}): Promise<DoctorReport> {
  const { store, runner } = engine;
  let info: RunnerInfo | undefined;
  let isolation: IsolationReport;
  try {
    info = await runner.ready();
    isolation = await runner.probe();
  } catch (error) {
    isolation = { kind: 'none', version: '', limits: 'watchdog', checks: [runnerFailed(error)] };
  }
  return {
    isolation,
    interpreters: info?.interpreters ?? [],
    checks: [databaseCheck(store), diskCheck(store.home.path)],
    home: store.home.path,
    node: process.version,
  };
}

function runnerFailed(error: unknown): IsolationCheck {
  return {
    id: 'runner',
    title: 'The runner starts',
    ok: false,
    detail: errorMessage(error),
    remedy: 'Install Sallyport again; if that does not help, report this text.',
  };
}

function databaseCheck(store: Store): IsolationCheck {
  const title = 'The database is sound';
  try {
    const found = store.database.all('pragma quick_check(1)').map((row) => text(row, 'quick_check'))[0] ?? '';
    if (found === 'ok')
      return { id: 'database', title, ok: true, detail: `SQLite found no fault in ${store.database.path}` };
    throw new Error(found);
  } catch (error) {
    return {
      id: 'database',
      title,
      ok: false,
      detail: `${store.database.path}: ${errorMessage(error)}`,
      remedy: 'Start Sallyport again: it keeps the damaged file under another name and begins a fresh one.',
    };
  }
}

function diskCheck(path: string): IsolationCheck {
  const { bavail, bsize } = statfsSync(path);
  const freeMB = Math.floor((bavail * bsize) / 1024 / 1024);
  const ok = freeMB >= leastFreeMB;
  return {
    id: 'disk',
    title: 'There is space for results',
    ok,
    detail: `${freeMB < 10_240 ? `${freeMB} MB` : `${Math.floor(freeMB / 1024)} GB`} free at ${path}`,
    ...(ok ? {} : { remedy: 'Free some space, or remove old results with “sallyport clean”.' }),
  };
}

const leastFreeMB = 512;
