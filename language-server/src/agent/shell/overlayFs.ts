import { posix } from 'node:path';
import { InMemoryFs, type IFileSystem } from 'just-bash';
import type { ProjectView } from './projectView.ts';

/** A file that is not as it was found. `content` null: it is gone. */
export interface OverlayChange {
  /** Relative to the project, with `/`. */
  readonly path: string;
  readonly content: Uint8Array | null;
  readonly mode: number;
  /** What was read or listed when the shell first saw it; null for a file that is new. */
  readonly base: { readonly content: Uint8Array; readonly mode: number } | null;
}

export interface Overlay {
  readonly fs: IFileSystem;
  /** What the shell has changed below the project, sorted by path, and links it made there, which are not kept. */
  changes(): Promise<{ readonly files: readonly OverlayChange[]; readonly links: readonly string[] }>;
}

/** Where a shell sees the project. */
export const projectMount = '/project';

/**
 * The project as a file system in memory: folders are listed when first looked into, files are read when first read, and
 * every write stays in memory. Nothing here writes to a disk.
 */
export function createOverlay(view: ProjectView, limitBytes: number): Overlay {
  const inner = new InMemoryFs({}, { maxTotalBytes: limitBytes });
  const loaded = new Set<string>();
  /** Files as they were listed. Their content is read by the view, not kept. */
  const base = new Map<string, { readonly mode: number; readonly content: () => Buffer }>();
  /** Paths that were written, and folders that were moved, copied or removed with all in them. */
  const touched = new Set<string>();

  const load = (folder: string) => {
    if (loaded.has(folder)) return;
    loaded.add(folder);
    for (const entry of view.list(relativeOf(folder)) ?? []) {
      const path = posix.join(folder, entry.name);
      if (entry.kind === 'directory') {
        inner.mkdirSync(path, { recursive: true });
        continue;
      }
      let read: Buffer | undefined;
      const content = () => (read ??= view.read(relativeOf(path)));
      base.set(path, { mode: entry.mode, content });
      inner.writeFileLazy(path, () => new Uint8Array(content()), {
        mode: entry.mode,
        mtime: new Date(entry.mtimeMs),
      });
    }
  };

  /** Lists what lies on the way to `path`, links that the shell made followed, and returns where it leads. */
  const reach = async (path: string, depth = 0): Promise<string> => {
    const parts = posix.resolve('/', path).split('/').slice(1);
    let at = '/';
    for (const [index, part] of parts.entries()) {
      if (part === '') continue;
      if (isInProject(at) && (await isFolder(inner, at))) load(at);
      const next = posix.join(at, part);
      const target = await linkTarget(inner, next);
      if (target !== undefined && depth < maximumLinks) {
        const rest = parts.slice(index + 1);
        return reach(posix.join(posix.resolve(at, target), ...rest), depth + 1);
      }
      at = next;
    }
    if (isInProject(at) && (await isFolder(inner, at))) load(at);
    return at;
  };

  const reachAll = async (folder: string): Promise<string> => {
    const at = await reach(folder);
    if (!isInProject(at) || !(await isFolder(inner, at))) return at;
    for (const { name, isDirectory } of await inner.readdirWithFileTypes(at)) {
      if (isDirectory) await reachAll(posix.join(at, name));
    }
    return at;
  };

  /** For what acts on a name and not on what it leads to. */
  const reachName = async (path: string): Promise<string> => {
    const full = posix.resolve('/', path);
    return posix.join(await reach(posix.dirname(full)), posix.basename(full));
  };
  /** For what writes to a path, the links on the way followed: the file system in memory would replace them. */
  const writable = async (path: string): Promise<string> => {
    const at = await reach(path);
    touched.add(at);
    return at;
  };
  const writableName = async (path: string): Promise<string> => {
    const at = await reachName(path);
    touched.add(at);
    return at;
  };

  inner.mkdirSync(projectMount, { recursive: true });
  for (const folder of ['/tmp', '/home/shell']) inner.mkdirSync(folder, { recursive: true });

  const fs: IFileSystem = {
    readFile: async (path, options) => inner.readFile(await reach(path), options),
    readFileBytes: async (path) => inner.readFileBytes(await reach(path)),
    readFileBuffer: async (path) => inner.readFileBuffer(await reach(path)),
    writeFile: async (path, content, options) => inner.writeFile(await writable(path), content, options),
    appendFile: async (path, content, options) => inner.appendFile(await writable(path), content, options),
    exists: async (path) => inner.exists(await reach(path)),
    stat: async (path) => inner.stat(await reach(path)),
    lstat: async (path) => inner.lstat(await reachName(path)),
    mkdir: async (path, options) => inner.mkdir(await reach(path), options),
    readdir: async (path) => inner.readdir(await reach(path)),
    readdirWithFileTypes: async (path) => inner.readdirWithFileTypes(await reach(path)),
    rm: async (path, options) => {
      const at = await writableName(path);
      await reachAll(at);
      await inner.rm(at, options);
    },
    cp: async (from, to, options) => {
      const [source, target] = [await reachAll(from), await writable(to)];
      await reachAll(target);
      await inner.cp(source, target, options);
    },
    mv: async (from, to) => {
      const [source, target] = [await writableName(from), await writableName(to)];
      await reachAll(source);
      await reachAll(target);
      await inner.mv(source, target);
    },
    resolvePath: (from, path) => inner.resolvePath(from, path),
    getAllPaths: () => inner.getAllPaths(),
    chmod: async (path, mode) => inner.chmod(await writable(path), mode),
    symlink: async (target, path) => inner.symlink(target, await writableName(path)),
    link: async (existing, path) => inner.link(await reach(existing), await writableName(path)),
    readlink: async (path) => inner.readlink(await reachName(path)),
    realpath: async (path) => inner.realpath(await reach(path)),
    utimes: async (path, at, mtime) => inner.utimes(await reach(path), at, mtime),
  };

  return {
    fs,
    async changes() {
      const isTouched = (path: string) => {
        for (let at = path; at !== '/'; at = posix.dirname(at)) if (touched.has(at)) return true;
        return false;
      };
      const candidates = new Set(
        [...base.keys(), ...inner.getAllPaths()].filter(isInProject).filter(isTouched),
      );
      const files: OverlayChange[] = [];
      const links: string[] = [];
      for (const path of [...candidates].sort()) {
        const found = base.get(path);
        const stat = await inner.lstat(path).catch(() => undefined);
        if (stat?.isSymbolicLink) links.push(relativeOf(path));
        const isFile = stat?.isFile === true;
        if (!isFile && !found) continue;
        const content = isFile ? await inner.readFileBuffer(path) : null;
        const before = found ? { content: new Uint8Array(found.content()), mode: found.mode } : null;
        const mode = isFile ? stat.mode & 0o777 : (found?.mode ?? 0o644);
        if (before && content && before.mode === mode && Buffer.compare(before.content, content) === 0)
          continue;
        files.push({ path: relativeOf(path), content, mode, base: before });
      }
      return { files, links };
    },
  };
}

const maximumLinks = 20;

function isInProject(path: string): boolean {
  return path === projectMount || path.startsWith(`${projectMount}/`);
}

function relativeOf(path: string): string {
  return path.slice(projectMount.length + 1);
}

async function isFolder(fs: InMemoryFs, path: string): Promise<boolean> {
  try {
    return (await fs.lstat(path)).isDirectory;
  } catch {
    return false;
  }
}

async function linkTarget(fs: InMemoryFs, path: string): Promise<string | undefined> {
  try {
    return (await fs.lstat(path)).isSymbolicLink ? await fs.readlink(path) : undefined;
  } catch {
    return undefined;
  }
}
