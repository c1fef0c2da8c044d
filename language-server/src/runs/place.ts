import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Reason } from '../../../protocol/src/engine.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import type { IsolationReport } from '../../../protocol/src/runner.ts';
import type { LocalRunner, RunnerInfo } from '../runners/local.ts';
import type { KeyEnvironment } from './cacheKey.ts';
import type { RunPlace } from './judge.ts';

export interface PlaceOptions {
  readonly runner: Pick<LocalRunner, 'ready'>;
  /** The files that `js` cards run on: another QuickJS is another environment. */
  readonly jsFiles: readonly string[];
}

/** Describes where cards run. The runner is asked, and so started, only where a sealed card needs it. */
export function createPlace({ runner, jsFiles }: PlaceOptions): (needsSealed: boolean) => Promise<RunPlace> {
  let jsEnvironment: KeyFacts | undefined;
  const sealedEnvironments = new WeakMap<RunnerInfo, Map<string, KeyFacts>>();
  const js = () => (jsEnvironment ??= { engine: versionOf(jsFiles) });
  const sealed = (info: RunnerInfo, runtime: string) => {
    const known = sealedEnvironments.get(info) ?? new Map<string, KeyFacts>();
    const environment = known.get(runtime) ?? describe(info, runtime);
    sealedEnvironments.set(info, known.set(runtime, environment));
    return environment;
  };
  return async (needsSealed) => {
    const info = needsSealed ? await ask(runner) : undefined;
    return {
      environment: (runtime) =>
        runtime === 'js' ? js() : info && 'version' in info ? sealed(info, runtime) : nowhere,
      sealedFault: !info ? null : 'fault' in info ? info.fault : isolationFault(info.isolation),
      interpreters: new Set(info && 'version' in info ? info.interpreters.map((each) => each.runtime) : []),
    };
  };
}

type KeyFacts = ReturnType<KeyEnvironment>;
const nowhere: KeyFacts = {};

/** Why sealed cards can't run on a machine with this report, with what mends it; null where they can. */
export function isolationFault(report: IsolationReport): Reason | null {
  if (report.kind !== 'none') return null;
  const failed = report.checks.filter(({ ok }) => !ok);
  const remedies = failed.flatMap(({ remedy }) => remedy ?? []);
  return {
    kind: 'isolation-missing',
    detail:
      failed.map(({ title, detail }) => `${title}: ${detail}`).join('; ') ||
      'this machine can’t seal a process',
    remedy: remedies.join(' ') || 'Only js cards run here.',
  };
}

async function ask(runner: Pick<LocalRunner, 'ready'>): Promise<RunnerInfo | { fault: Reason }> {
  try {
    return await runner.ready();
  } catch (error) {
    const remedy = 'See Sallyport: Doctor.';
    return { fault: { kind: 'isolation-missing', detail: errorMessage(error), remedy } };
  }
}

function describe(info: RunnerInfo, runtime: string): KeyFacts {
  const interpreter = info.interpreters.find((each) => each.runtime === runtime);
  return {
    platform: info.platform,
    helper: info.version,
    ...(interpreter ? { interpreter: `${interpreter.path} ${interpreter.version}` } : {}),
  };
}

function versionOf(files: readonly string[]): string {
  return hash('sha256', files.map((file) => hash('sha256', readFileSync(file))).join(' ')).slice(0, 16);
}
