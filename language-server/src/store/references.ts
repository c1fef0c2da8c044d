import * as z from 'zod/mini';
import { artifactRef, tree, type ArtifactRef } from '../../../protocol/src/artifacts.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { number, text, type Database } from './database.ts';

const codePart = z.object({ code: artifactRef });
const outputs = z.array(z.object({ artifact: artifactRef }));

/** The artefacts that each run holds on to, the newest run first: what its cards wrote and the code that they ran. */
export function* artifactsOfRuns(database: Database): Generator<{ run: number; artifacts: ArtifactRef[] }> {
  for (const row of database.all('select seq from runs order by seq desc')) {
    const run = number(row, 'seq');
    const results = database
      .all('select distinct outputs_json from results join card_runs on result = id where run = ?', run)
      .flatMap((found) =>
        outputs.parse(JSON.parse(text(found, 'outputs_json'))).map(({ artifact }) => artifact),
      );
    const code = database
      .all('select distinct parts_json from key_parts join card_runs using (key) where run = ?', run)
      .map((found) => codePart.parse(JSON.parse(text(found, 'parts_json'))).code);
    yield { run, artifacts: [...results, ...code] };
  }
}

/** Adds the blobs of an artefact: itself, and for a folder every file that its listing names. */
export function addBlobs(
  into: Set<string>,
  artifact: ArtifactRef,
  blobs: Pick<BlobStore, 'has' | 'readBytes'>,
): void {
  if (into.has(artifact.digest)) return;
  into.add(artifact.digest);
  if (artifact.kind === 'file' || !blobs.has(artifact.digest)) return;
  const listing = tree.parse(
    JSON.parse(blobs.readBytes(artifact.digest, { verify: false }).toString('utf8')),
  );
  for (const entry of listing.entries) if (entry.kind === 'file') into.add(entry.digest);
}
