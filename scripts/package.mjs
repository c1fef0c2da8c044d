// `npm run package`: stages the extension in a clean folder and makes a VSIX of it.
import { createVSIX } from '@vscode/vsce';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, exit, stdout } from 'node:process';
import { buildAll } from './build.mjs';
import { notices, packagesOf } from './notices.mjs';

const root = join(import.meta.dirname, '..');

/** What a VSIX may weigh. */
export const largestVsixBytes = 5 * 1024 * 1024;

/** Files and folders of the repository that are shipped beside the built `dist/`. Nothing else is. */
const shipped = [
  'package.nls.json',
  'extension/media',
  'extension/language',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'SECURITY.md',
  'DEPENDENCIES.md',
];

/** Built for ourselves: the engine brings the compiler by its digest when the first app needs it (compiler.ts). */
const notShipped = ['esbuild.wasm'];

/** Manifest keys that only a developer needs. */
const developerKeys = ['scripts', 'devDependencies', 'allowScripts', 'private'];

/** Makes `folder` a complete extension: production build, media, language, texts, licences and the manifest without our tools. */
export async function stageExtension(folder) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const inputs = await buildAll({ outdir: join(folder, 'dist'), sourcemap: false });
  for (const name of notShipped) await rm(join(folder, 'dist', name));
  for (const path of shipped) await cp(join(root, path), join(folder, path), { recursive: true });
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  await writeFile(join(folder, 'README.md'), withoutOwnPictures(readme));
  await writeFile(join(folder, 'THIRD-PARTY-NOTICES.txt'), await notices(root, packagesOf(inputs)));
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const key of developerKeys) delete manifest[key];
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return folder;
}

/** The README shown in VS Code: pictures of the repository are not shipped, so their lines are left out. */
function withoutOwnPictures(markdown) {
  return markdown.replace(/^!\[[^\]]*\]\((?!https:)[^)]*\)\s*\n/gm, '');
}

/** Packs a staged folder. Throws where the result is too large or holds a source map. */
export async function packExtension(folder, vsixPath) {
  const files = await listFiles(folder);
  const maps = files.filter((file) => file.endsWith('.map'));
  if (maps.length > 0) throw new Error(`Failed to package: source maps are staged: ${maps.join(', ')}`);
  await createVSIX({
    cwd: folder,
    packagePath: vsixPath,
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
  const { size } = await stat(vsixPath);
  if (size > largestVsixBytes)
    throw new Error(`Failed to package: ${vsixPath} has ${size} bytes, ${largestVsixBytes} are allowed`);
  return { vsixPath, sizeBytes: size, files };
}

/** The paths below a folder, with `/`, sorted. */
export async function listFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort();
}

if (import.meta.filename === argv[1]) {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  try {
    const staged = await stageExtension(join(root, 'out', 'package'));
    const { vsixPath, sizeBytes } = await packExtension(staged, join(root, `sallyport-${version}.vsix`));
    stdout.write(`${vsixPath}, ${(sizeBytes / 1024 / 1024).toFixed(2)} MB\n`);
  } catch (error) {
    stdout.write(`${error.message}\n`);
    exit(1);
  }
}
