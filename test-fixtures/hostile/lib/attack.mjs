// What every attacking card written for Node starts from.
import { readFileSync, writeSync } from 'node:fs';

const given = process.env.SALLYPORT_PARAMS ?? '{}';
export const params = JSON.parse(given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8'));
export const lures = params.lures ?? {};
export const bounded = params.bounded ?? false;
export const outputs = process.env.SALLYPORT_OUTPUTS ?? '/out';

export function report(name, got, detail = '') {
  writeSync(1, `ROUTE ${name} ${got ? 'got' : 'held'} ${JSON.stringify(String(detail)).slice(0, 200)}\n`);
}

/** Tries one route: what `action` gives is what it got, nothing or an error is a closed door. */
export async function attempt(name, action) {
  try {
    const found = await action();
    report(name, Boolean(found), found);
  } catch (error) {
    report(name, false, `${error?.code ?? error?.name}: ${error?.message}`);
  }
}
