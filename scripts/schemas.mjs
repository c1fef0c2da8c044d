// Writes the JSON schemas for editors other than VS Code, from protocol/src/manifests.ts. `--check` only compares.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, exit, stderr } from 'node:process';
import { format, resolveConfig } from 'prettier';
import * as z from 'zod/mini';
import { appManifest, cardManifest, pluginManifest, projectManifest } from '../protocol/src/manifests.ts';
import { valueTexts } from '../language-server/src/messages.ts';

const folder = join(import.meta.dirname, '..', 'extension', 'schemas');
const schemas = [
  { file: 'project.schema.json', title: 'Sallyport project', schema: projectManifest },
  { file: 'card.schema.json', title: 'Sallyport card', schema: cardManifest },
  { file: 'app.schema.json', title: 'Sallyport app', schema: appManifest },
  { file: 'plugin.schema.json', title: 'Sallyport plugin', schema: pluginManifest, io: 'output' },
];

/** Adds what JSON language servers show and takes out bounds that only say "a number JSON can carry". */
function forEditors({ jsonSchema }) {
  if (jsonSchema.description) jsonSchema.markdownDescription = jsonSchema.description;
  const { meanings = valueTexts } = jsonSchema;
  delete jsonSchema.meanings;
  const texts = jsonSchema.enum?.map((value) => meanings[value] ?? '');
  if (texts?.some((text) => text !== '')) jsonSchema.markdownEnumDescriptions = texts;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** `io`: `output` where a part is parsed in two steps, of which the second one says more. */
async function textOf({ file, title, schema, io = 'input' }) {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-7',
    override: forEditors,
  });
  const path = join(folder, file);
  const options = { ...(await resolveConfig(path)), filepath: path };
  return format(JSON.stringify({ $schema, title, ...rest }), options);
}

let stale = 0;
for (const each of schemas) {
  const path = join(folder, each.file);
  const text = await textOf(each);
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before === text) continue;
  if (argv.includes('--check')) {
    stderr.write(`${path} is stale. Write it with: node scripts/schemas.mjs\n`);
    stale++;
  } else {
    await mkdir(folder, { recursive: true });
    await writeFile(path, text);
  }
}
exit(stale > 0 ? 1 : 0);
