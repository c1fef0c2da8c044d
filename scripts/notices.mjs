// What the licences of the packages in our bundles ask for: their copyright lines and texts, beside the code.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const licenceFile = /^(licen[cs]e|copying|notice)([.-].*)?$/i;
const packageFolder = /^(.*\/)?node_modules\/(@[^/]+\/[^/]+|[^/]+)/;

/** The folders of the packages that the files `inputs` belong to, sorted; paths as esbuild's metafile has them, with `/`. */
export function packagesOf(inputs) {
  const folders = inputs.flatMap((input) => packageFolder.exec(input)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/**
 * One text with name, version, licence and licence texts of each package. The same text of several packages stands once,
 * below all their names. Throws for a package that names no licence.
 */
export async function notices(root, folders) {
  const namesByText = new Map();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
    const files = (await readdir(join(root, folder))).filter((file) => licenceFile.test(file)).sort();
    const texts = await Promise.all(files.map((file) => readFile(join(root, folder, file), 'utf8')));
    if (!license && texts.length === 0) throw new Error(`Failed to package: ${folder} names no licence`);
    const text = texts.map((each) => each.replaceAll('\r\n', '\n').trim()).join('\n\n');
    namesByText.set(text, [
      ...(namesByText.get(text) ?? []),
      `${name} ${version} (${license ?? 'as below'})`,
    ]);
  }
  return [...namesByText]
    .map(([text, names]) => `${[...names, '', text].join('\n').trim()}\n`)
    .join(`\n${rule}\n\n`);
}

const rule = '-'.repeat(80);
