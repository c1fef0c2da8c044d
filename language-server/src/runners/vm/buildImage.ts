import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import { guestPerson } from '../../../../protocol/src/vmGuest.ts';
import { packCpio } from './cpio.ts';
import { firstProgram, guestPaths, guestTools, startProgram, terminalStart } from './guestScripts.ts';
import { runTool, type SpawnTool } from './tools.ts';
import { imageFiles, type VmFolder } from './vmFolder.ts';
import { contentDigest, imageVersion, type VmImage } from './vmImage.ts';
import {
  licencesOf,
  parsePackageFile,
  vmKernelPackages,
  vmLeftOut,
  vmModules,
  vmShareModules,
  vmVsockModules,
  vmPackages,
  type VmPackage,
} from './vmPackages.ts';

export interface BuildOptions {
  readonly folder: VmFolder;
  /** `remote-agent.cjs`. */
  readonly runner: string;
  /** A plain Node, 20 or newer, of this machine. */
  readonly node: { readonly path: string; readonly version: string };
  /** Node's name of this machine's architecture. */
  readonly architecture: string;
  readonly uid: number;
  readonly diskMB: number;
  readonly now: () => number;
  readonly spawnTool: SpawnTool;
  readonly signal: AbortSignal;
  /** What is done now, and how far all of it is (0 to 1). */
  readonly onStep: (text: string, fraction: number) => void;
}

/**
 * Builds kernel, root file system and empty disk from the distribution's packages, without running anything of theirs,
 * and puts them in place of the image before in one step. Nothing is left of a build that failed or was cancelled but
 * the packages. Throws `isolation-missing` with the remedy, `cancelled`, `disk-full`.
 */
export async function buildImage(options: BuildOptions): Promise<VmImage> {
  const { folder } = options;
  const work = mkdtempSync(join(folder.path, 'build-'));
  try {
    const files = await fetchPackages(options);
    const root = join(work, 'root');
    const packages = await unpack(options, files, root);
    const image = join(work, 'image');
    mkdirSync(image, { mode: 0o700 });
    options.onStep('Making the root file system', 0.6);
    takeKernel(root, image);
    furnish(options, root);
    await makeFileSystems(options, root, image);
    const target = imageFiles(image);
    const hash = createHash('sha256');
    for (const file of [target.kernel, target.initrd]) hash.update(readFileSync(file));
    const built: VmImage = {
      version: imageVersion,
      id: hash
        .update(JSON.stringify([packages, options.node, options.diskMB, contentDigest(options.runner)]))
        .digest('hex')
        .slice(0, 16),
      runnerDigest: contentDigest(options.runner),
      builtAt: options.now(),
      sizeBytes: readdirSync(image).reduce((sum, name) => sum + statSync(join(image, name)).blocks * 512, 0),
      node: options.node.version,
      architecture: options.architecture,
      packages,
    };
    writeFileSync(target.facts, JSON.stringify(built, null, 2), { mode: 0o600 });
    rmSync(folder.image, { recursive: true, force: true });
    renameSync(image, folder.image);
    return built;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Downloads what is missing with apt, which checks the distribution's signatures. Returns the files. */
async function fetchPackages({ folder, architecture, spawnTool, signal, onStep, uid }: BuildOptions) {
  const kernel = vmKernelPackages[architecture];
  if (kernel === undefined)
    throw new UserError('isolation-missing', `VMs can't be built for ${architecture} yet`);
  const status = join(folder.path, 'no-packages');
  writeFileSync(status, '');
  mkdirSync(join(folder.packages, 'partial'), { recursive: true, mode: 0o700 });
  const apt = (extra: readonly string[], onLine?: (line: string) => void) =>
    runTool(spawnTool, {
      program: 'apt-get',
      args: [
        // As if nothing was installed, so that the whole closure is named.
        ...['-o', `Dir::State::status=${status}`, '-o', 'Debug::NoLocking=1'],
        ...['-o', `Dir::Cache::archives=${folder.packages}/`],
        ...['-o', 'Dir::Cache::pkgcache=', '-o', 'Dir::Cache::srcpkgcache='],
        ...(uid === 0 ? ['-o', 'APT::Sandbox::User=root'] : []),
        ...['--yes', '--no-install-recommends', ...extra, 'install', kernel, ...vmPackages],
      ],
      folder: folder.path,
      signal,
      ...(onLine ? { onLine } : {}),
    });
  onStep('Asking the distribution for its packages', 0);
  let count = 0;
  await apt(['--download-only'], (line) => {
    if (line.startsWith('Get:'))
      onStep(`Downloading ${line.split(' ')[4] ?? ''}`, Math.min(0.3, (count += 1) / 300));
  });
  // What an earlier build left and this one does not need stays out.
  const planned = await apt(['--simulate']);
  const wanted = new Map(
    [...planned.matchAll(/^Inst (\S+) \((\S+) /gm)].map(([, name = '', version = '']) => [name, version]),
  );
  const files = readdirSync(folder.packages).filter((file) => {
    const parsed = parsePackageFile(file);
    return parsed && wanted.get(parsed.name) === parsed.version;
  });
  if (files.length < wanted.size) {
    throw new UserError('internal', `${wanted.size - files.length} packages were not downloaded`);
  }
  return files.sort();
}

async function unpack(
  { folder, spawnTool, signal, onStep }: BuildOptions,
  files: readonly string[],
  root: string,
): Promise<VmPackage[]> {
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(root, 'usr', name), { recursive: true });
    symlinkSync(`usr/${name}`, join(root, name));
  }
  const done: VmPackage[] = [];
  for (const file of files) {
    const { name, version } = parsePackageFile(file) ?? { name: file, version: '' };
    onStep(`Unpacking ${name}`, 0.3 + (0.3 * done.length) / files.length);
    const path = join(folder.packages, file);
    const archive = join(folder.path, 'unpacking.tar');
    // dpkg-deb would replace the links of a merged /usr; tar can be told not to.
    await runTool(spawnTool, {
      program: 'sh',
      args: ['-c', 'dpkg-deb --fsys-tarfile "$1" > "$2"', 'sh', path, archive],
      folder: root,
      signal,
    });
    await runTool(spawnTool, {
      program: 'tar',
      args: ['-x', '--keep-directory-symlink', '--no-same-owner', '-f', archive],
      folder: root,
      signal,
    });
    rmSync(archive, { force: true });
    const copyright = join(root, 'usr/share/doc', name, 'copyright');
    done.push({
      name,
      version,
      sizeBytes: statSync(path).size,
      licences: existsSync(copyright) ? licencesOf(readFileSync(copyright, 'utf8')) : [],
    });
  }
  return done;
}

/** Kernel and the few modules that it needs to see its disks and ports. */
function takeKernel(root: string, image: string): void {
  const kernel = readdirSync(join(root, 'boot')).find((name) => name.startsWith('vmlinuz-'));
  if (kernel === undefined) throw new UserError('internal', 'The kernel’s package holds no kernel');
  const { kernel: target, initrd } = imageFiles(image);
  copyFileSync(join(root, 'boot', kernel), target);
  const modules = join(root, 'usr/lib/modules', kernel.slice('vmlinuz-'.length), 'kernel');
  const found = new Map(
    readdirSync(modules, { recursive: true, encoding: 'utf8' }).map((path) => [
      path.slice(path.lastIndexOf('/') + 1),
      join(modules, path),
    ]),
  );
  const folders = ['bin', 'dev', 'proc', 'root', 'lower', 'upper', 'modules'];
  const packed = packCpio([
    ...folders.map((path) => ({ path, mode: 0o755 })),
    { path: 'init', mode: 0o755, content: Buffer.from(firstProgram()) },
    { path: 'bin/busybox', mode: 0o755, content: readFileSync(join(root, 'usr/bin/busybox')) },
    ...[...vmModules, ...vmShareModules, ...vmVsockModules].flatMap((name) => {
      const path = found.get(`${name}.ko`);
      if (path !== undefined) return { path: `modules/${name}.ko`, mode: 0o644, content: readFileSync(path) };
      if ((vmVsockModules as readonly string[]).includes(name)) return [];
      throw new UserError('internal', `The kernel’s package has no module ${name}`);
    }),
  ]);
  writeFileSync(initrd, packed, { mode: 0o600 });
}

/** Puts Node and the runner in, and what the packages' own scripts would have made. */
function furnish({ runner, node }: BuildOptions, root: string): void {
  for (const path of vmLeftOut) rmSync(join(root, path), { recursive: true, force: true });
  for (const path of [
    'dev',
    'proc',
    'sys',
    'run',
    'tmp',
    'root',
    'home',
    'var/tmp',
    guestPaths.home.slice(1),
    guestPaths.jobs.slice(1),
    guestPaths.tools.slice(1),
  ])
    mkdirSync(join(root, path), { recursive: true });
  chmodSync(join(root, 'var/tmp'), 0o1777);
  mkdirSync(join(root, guestPaths.runner, '..'), { recursive: true });
  copyFileSync(node.path, join(root, guestPaths.node));
  copyFileSync(runner, join(root, guestPaths.runner));
  writeFileSync(join(root, guestPaths.start), startProgram());
  for (const path of [guestPaths.node, guestPaths.start]) chmodSync(join(root, path), 0o755);
  for (const name of guestTools) symlinkSync('../../../bin/busybox', join(root, guestPaths.tools, name));
  const write = (path: string, text: string) => writeFileSync(join(root, path), text);
  const { name, id, home, start } = guestPerson;
  write(
    'etc/passwd',
    `root:x:0:0:root:/root:/bin/sh\n${name}:x:${id}:${id}::${home}:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  );
  // No group “tty”: an SSH server that is not root would have to give terminals to it.
  write('etc/group', `root:x:0:\n${name}:x:${id}:\nnogroup:x:65534:\n`);
  write(start.slice(1), terminalStart());
  write('etc/shells', '/bin/sh\n/bin/bash\n');
  write('etc/hosts', '127.0.0.1 localhost\n::1 localhost\n');
  write('etc/resolv.conf', '');
  const awk = join(root, 'usr/bin/awk');
  if (!existsSync(awk)) symlinkSync('gawk', awk);
  bundleCertificates(root);
}

/** What `update-ca-certificates` would write. */
function bundleCertificates(root: string): void {
  const folder = join(root, 'usr/share/ca-certificates/mozilla');
  if (!existsSync(folder)) return;
  mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true });
  const all = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  writeFileSync(join(root, 'etc/ssl/certs/ca-certificates.crt'), all.join(''));
}

async function makeFileSystems(options: BuildOptions, root: string, image: string): Promise<void> {
  const { spawnTool, signal, onStep, diskMB, uid } = options;
  const { root: rootFile, disk } = imageFiles(image);
  const usedMB = Math.ceil(folderBytes(root) / 1e6);
  const make = async (file: string, megabytes: number, extra: readonly string[]) => {
    writeFileSync(file, '', { mode: 0o600 });
    truncateSync(file, megabytes * 1024 * 1024);
    const args = [
      '-q',
      '-F',
      '-t',
      'ext4',
      '-m',
      '0',
      '-E',
      'root_owner=0:0,lazy_itable_init=1',
      ...extra,
      file,
    ];
    // Files belong to whoever unpacked them: in a namespace of its own that is root, as it is to be in the VM.
    const asRoot = uid === 0 ? [] : ['unshare', '--user', '--map-root-user'];
    const call = [...asRoot, 'mke2fs', ...args];
    await runTool(spawnTool, { program: call[0] ?? '', args: call.slice(1), folder: image, signal });
  };
  await make(rootFile, Math.ceil(usedMB * 1.15) + 32, ['-O', '^has_journal', '-d', root]);
  onStep('Making an empty disk', 0.75);
  await make(disk, diskMB, ['-O', '^has_journal']);
}

/** Follows no link: those of the packages lead to places of this machine's. */
function folderBytes(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + folderBytes(path);
    return entry.isFile() ? sum + Math.ceil(statSync(path).size / 4096) * 4096 : sum;
  }, 0);
}
