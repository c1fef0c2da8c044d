// Writes a new app from the template: `npm run new-app -- ID [FOLDER]` makes FOLDER/ID, here without a folder.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { argv, cwd, env, exit, stderr, stdout } from 'node:process';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const template = join(import.meta.dirname, 'newApp');
const idPattern = /^[a-z][a-z0-9-]{0,63}$/;

/** The types of `sallyport` as authors get them: a script's global instead of exports. */
export async function declarations() {
  const source = await readFile(join(root, 'protocol', 'src', 'sallyportApi.ts'), 'utf8');
  return `${source.replaceAll(/^export /gm, '')}\ndeclare const sallyport: Sallyport;\n`;
}

/** Writes `folder`, which must not be there. All of it or nothing. */
export async function newApp(id, folder) {
  if (!idPattern.test(id)) {
    throw new Error(
      `“${id}” is no id of an app. Use small letters, digits and “-”, beginning with a letter.`,
    );
  }
  const staged = join(dirname(folder), `.${id}.new`);
  await rm(staged, { recursive: true, force: true });
  try {
    for (const path of await readdir(template, { recursive: true })) {
      const text = await readFile(join(template, path), 'utf8').catch((error) => {
        if (error.code === 'EISDIR') return undefined;
        throw error;
      });
      if (text === undefined) continue;
      await mkdir(dirname(join(staged, path)), { recursive: true });
      await writeFile(join(staged, path), text.replaceAll('APP_ID', id).replaceAll('APP_NAME', nameOf(id)));
    }
    await writeFile(join(staged, 'sallyport.d.ts'), await declarations());
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

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const [id, into = '.'] = argv.slice(2);
  // npm runs scripts in the folder of the package; a person means the one that they are in.
  const here = env.INIT_CWD ?? cwd();
  if (id === undefined) {
    stderr.write('Usage: npm run new-app -- ID [FOLDER]\n');
    exit(2);
  }
  const folder = join(resolve(here, into), id);
  try {
    await newApp(id, folder);
    stdout.write(
      `Wrote ${relative(here, folder)}. In VS Code: “Sallyport: Install App…”, From a Folder. See docs/app-authors.md.\n`,
    );
  } catch (error) {
    stderr.write(`${error.message}\n`);
    exit(1);
  }
}
