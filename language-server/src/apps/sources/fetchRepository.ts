import { mkdirSync } from 'node:fs';
import { simpleGit, type SimpleGit } from 'simple-git';
import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import { badEntry, tooLarge } from '../tree/frozenTree.ts';
import { EntryPaths } from '../tree/entryPaths.ts';
import { runGroup } from './runGroup.ts';

export interface RepositoryFile {
  readonly path: string;
  readonly bytes: Buffer;
}

export interface FetchRepositoryOptions {
  readonly url: string;
  /** A branch, a tag or a commit; absent is what the server calls HEAD. */
  readonly ref: string | undefined;
  /** A folder of our own that is empty: git's home and the repository are made in it. */
  readonly folder: string;
  /** PATH and what the transport needs; the rest of git's environment is set here. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
  /** Milliseconds of silence until it is given up. */
  readonly silentMs?: number;
}

/**
 * Fetches one commit and reads its files from git's object store: nothing is checked out, so there are no hooks,
 * filters, line endings or links to mind. A symbolic link becomes a plain file with its text, a submodule is left out,
 * and a pointer of LFS stays a pointer. All entries are judged before the first file is read. Throws `unsafe-path`,
 * `too-large`, and git's own words as an Error.
 */
export async function fetchRepository(
  options: FetchRepositoryOptions,
): Promise<{ readonly commit: string; readonly files: readonly RepositoryFile[] }> {
  const { url, ref, folder, onProgress } = options;
  for (const each of ['home', 'repository']) mkdirSync(`${folder}/${each}`, { mode: 0o700 });
  const wanted: { ids: readonly string[] } = { ids: [] };
  const git = openGit(options, () => wanted.ids);
  await git.raw(['init', '--quiet', '--bare', '--template=', '.']);
  onProgress('Fetching the repository');
  await runGroup(
    'git',
    [
      ...settings.flatMap((each) => ['-c', each]),
      'fetch',
      '--progress',
      '--depth=1',
      '--no-tags',
      '--no-recurse-submodules',
      '--no-auto-maintenance',
      '--end-of-options',
      url,
      `+${ref ?? 'HEAD'}:${fetched}`,
    ],
    {
      cwd: `${folder}/repository`,
      env: environmentOf(options),
      signal: options.signal,
      silentMs: options.silentMs ?? longestSilenceMs,
    },
  );
  const commit = (await git.raw(['rev-parse', '--verify', '--end-of-options', `${fetched}^{commit}`])).trim();
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new Error('git named no commit');
  const listing = await git.raw(['ls-tree', '-r', '-z', '--long', '--full-tree', commit]);
  const entries = judgeListing(listing);
  wanted.ids = [...new Set(entries.map(({ id }) => id))];
  onProgress('Reading its files');
  const objects = parseBatch((await git.binaryCatFile(['--batch', '--buffer'])) as Buffer, wanted.ids);
  const files = entries.map(({ path, id }) => {
    const bytes = objects.get(id);
    if (!bytes) throw new Error(`git has no object for ${path}`);
    return { path, bytes };
  });
  return { commit, files };
}

const fetched = 'refs/sallyport/fetched';

const longestSilenceMs = 60_000;

const settings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'credential.helper=',
  'fetch.fsckObjects=true',
  'fetch.writeCommitGraph=false',
  'gc.auto=0',
  // Another address is a person's to choose. It also keeps alternates of the dumb protocol out (git-config(1)).
  'http.followRedirects=false',
  'submodule.recurse=false',
  'transfer.fsckObjects=true',
];

function environmentOf({ environment, folder }: FetchRepositoryOptions): Record<string, string> {
  return { ...environment, ...fixedEnvironment, HOME: `${folder}/home`, XDG_CONFIG_HOME: `${folder}/home` };
}

/** Git for what stays in the folder. */
function openGit(options: FetchRepositoryOptions, wanted: () => readonly string[]): SimpleGit {
  const { folder, environment, signal, silentMs = longestSilenceMs } = options;
  return simpleGit({
    baseDir: `${folder}/repository`,
    abort: signal,
    timeout: { block: silentMs },
    config: [...settings],
    unsafe: {
      allowUnsafeHooksPath: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeTemplateDir: true,
      allowUnsafeSshCommand: true,
      allowUnsafeConfigPaths: true,
    },
    allowEnvironment: Object.keys(environment).concat(Object.keys(fixedEnvironment)),
    input: (commands) => (commands.includes('cat-file') ? `${wanted().join('\n')}\n` : undefined),
  }).env(environmentOf(options));
}

/** No configuration but ours, and nobody is asked for anything. */
const fixedEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LFS_SKIP_SMUDGE: '1',
  LC_ALL: 'C',
  GIT_SSH_COMMAND: sshCommand(),
};

/**
 * OpenSSH as the person has set it up, less what would open something: no question, no key that is not known and none
 * that the server adds, nothing forwarded, nothing run here, no connection that outlives this one (ssh_config(5)).
 */
function sshCommand(): string {
  const settings = {
    BatchMode: 'yes',
    StrictHostKeyChecking: 'yes',
    UpdateHostKeys: 'no',
    ForwardAgent: 'no',
    ForwardX11: 'no',
    ClearAllForwardings: 'yes',
    Tunnel: 'no',
    PermitLocalCommand: 'no',
    ControlMaster: 'no',
    RequestTTY: 'no',
    ConnectTimeout: '30',
    ServerAliveInterval: '15',
  };
  return ['ssh', ...Object.entries(settings).map(([name, value]) => `-o${name}=${value}`)].join(' ');
}

interface ListedFile {
  readonly path: string;
  readonly id: string;
  readonly sizeBytes: number;
}

/** Judges `git ls-tree -r -z --long`: `MODE TYPE OBJECT SIZE\tPATH\0`. Exported for its tests. */
export function judgeListing(listing: string): ListedFile[] {
  const paths = new EntryPaths();
  const files: ListedFile[] = [];
  let totalBytes = 0;
  for (const line of listing.split('\0')) {
    if (line.trim() === '') continue;
    const [, mode = '', type, id = '', size = '', path = ''] =
      /^([0-7]{6}) ([a-z]+) ([0-9a-f]{40,64}) +(-|[0-9]+)\t(.*)$/s.exec(line) ?? [];
    if (type === undefined) throw new Error('git listed files in a form that is not read');
    if (mode === '160000') continue;
    if (type !== 'blob' || !regular.has(mode)) throw badEntry(path, 'is of a kind that is not taken');
    const fault = path.includes('\uFFFD') ? 'is not valid UTF-8' : paths.add(path, 'file');
    if (fault !== undefined) throw badEntry(path, fault);
    const sizeBytes = Number(size);
    totalBytes += sizeBytes;
    files.push({ path, id, sizeBytes });
    if (
      sizeBytes > appLimits.fileBytes ||
      totalBytes > appLimits.totalBytes ||
      files.length > appLimits.files
    )
      throw tooLarge();
  }
  return files;
}

const regular: ReadonlySet<string> = new Set(['100644', '100755', '100664', '120000']);

/** Reads `git cat-file --batch`: `OBJECT TYPE SIZE\n…\n` for each object that was asked for, in order. */
function parseBatch(bytes: Buffer, ids: readonly string[]): Map<string, Buffer> {
  const objects = new Map<string, Buffer>();
  let at = 0;
  for (const id of ids) {
    const end = bytes.indexOf(0x0a, at);
    const [found, type, size = ''] = bytes.toString('latin1', at, Math.max(at, end)).split(' ');
    const length = Number(size);
    if (
      end < 0 ||
      found !== id ||
      type !== 'blob' ||
      !Number.isInteger(length) ||
      end + 1 + length >= bytes.length
    )
      throw new UserError('unreadable', 'The repository was not fetched whole.');
    objects.set(id, bytes.subarray(end + 1, end + 1 + length));
    at = end + 1 + length + 1;
  }
  return objects;
}
