import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, UserError } from '../../../../../protocol/src/errors.ts';
import { fetchRepository } from '../fetchRepository.ts';
import { toBundle } from '../repositoryBundle.ts';
import { readJob } from './environment.ts';

/** The program of a sealed fetch: fetches one commit and leaves it as one file. Built to `dist/git-job.cjs`. */
void run();

async function run(): Promise<void> {
  const { url, ref, ca, outputs, scratch, environment } = readJob();
  const folder = mkdtempSync(join(scratch, 'repository-'));
  const out = join(outputs, 'repository');
  try {
    if (ca !== null) writeFileSync(join(folder, 'ca.pem'), ca);
    const { commit, files } = await fetchRepository({
      url,
      ref: ref ?? undefined,
      folder,
      environment: {
        ...environment,
        GIT_ALLOW_PROTOCOL: 'https',
        ...(ca !== null && { GIT_SSL_CAINFO: join(folder, 'ca.pem') }),
      },
      onProgress: () => undefined,
      signal: new AbortController().signal,
    });
    const listed = files.map(({ path, bytes }) => ({ path, sizeBytes: bytes.length }));
    writeFileSync(out, toBundle({ commit, files: listed }, files));
  } catch (error) {
    const code = error instanceof UserError ? error.code : null;
    writeFileSync(out, toBundle({ failure: errorMessage(error).slice(0, 4000), code }));
  }
}
