// Writes a new app from the template: `npm run new-app -- ID [FOLDER]` makes FOLDER/ID, here without a folder.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { argv, cwd, env, exit, stderr, stdout } from 'node:process';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { composeApp } from '../extension/src/apps/newApp/composeApp.ts';
import { idPattern } from '../protocol/src/manifests.ts';

const root = join(import.meta.dirname, '..');
const template = join(import.meta.dirname, 'newApp');

/** The types of `sallyport` as authors get them: a script's global instead of exports. */
export async function declarations() {
  const source = await readFile(join(root, 'protocol', 'src', 'sallyportApi.ts'), 'utf8');
  return `${source.replaceAll(/^export /gm, '')}\ndeclare const sallyport: Sallyport;\n`;
}

/** The template as `composeApp` takes it; the build puts the same into `dist/newApp.json`. */
export async function readTemplate() {
  const files = { 'common/sallyport.d.ts': await declarations() };
  for (const entry of await readdir(template, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(template, path).replaceAll('\\', '/')] = await readFile(path, 'utf8');
  }
  return files;
}

/** Writes `folder`, which must not be there. All of it or nothing. */
export async function newApp(
  id,
  folder,
  { name = nameOf(id), parts = 'plugin', language = 'javascript' } = {},
) {
  if (!idPattern.test(id)) {
    throw new Error(
      `“${id}” is no id of an app. Use small letters, digits and “-”, beginning with a letter.`,
    );
  }
  const staged = join(dirname(folder), `.${id}.new`);
  await rm(staged, { recursive: true, force: true });
  try {
    for (const [path, text] of composeApp(await readTemplate(), { id, name, parts, language })) {
      await mkdir(dirname(join(staged, path)), { recursive: true });
      await writeFile(join(staged, path), text);
    }
    // Fails where the folder is there and holds something.
    await rename(staged, folder);
  } catch (error) {
    await rm(staged, { recursive: true, force: true });
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(error.code)) {
      throw new Error(`${folder} is there already. Choose another id or folder.`);
    }
    throw error;
  }
}

function nameOf(id) {
  return id
    .split('-')
    .filter(Boolean)
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join(' ');
}

const usage = 'Usage: npm run new-app -- ID [FOLDER] [--name NAME] [--page-only] [--typescript]\n';

function parseLine() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        'page-only': { type: 'boolean' },
        typescript: { type: 'boolean' },
      },
    });
    return positionals.length === 1 || positionals.length === 2 ? { values, positionals } : undefined;
  } catch {
    return undefined;
  }
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const line = parseLine();
  if (line === undefined) {
    stderr.write(usage);
    exit(2);
  }
  const [id, into = '.'] = line.positionals;
  // npm runs scripts in the folder of the package; a person means the one that they are in.
  const here = env.INIT_CWD ?? cwd();
  const folder = join(resolve(here, into), id);
  try {
    await newApp(id, folder, {
      ...(line.values.name === undefined ? {} : { name: line.values.name }),
      parts: line.values['page-only'] ? 'page' : 'plugin',
      language: line.values.typescript ? 'typescript' : 'javascript',
    });
    stdout.write(
      `Wrote ${relative(here, folder)}. In VS Code: “Sallyport: Install App”, Folder. Its README.md says more.\n`,
    );
  } catch (error) {
    stderr.write(`${error.message}\n`);
    exit(1);
  }
}
