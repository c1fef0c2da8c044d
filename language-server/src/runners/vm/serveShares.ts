import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { FileOwner } from '../../../../remote-agent/src/files/materialize.ts';
import { closedParentError, mayEnter } from '../../../../remote-agent/src/isolation/closedParent.ts';
import { sandboxOwner } from '../../../../remote-agent/src/isolation/identity.ts';
import { keptGroupsFilter } from '../../../../remote-agent/src/isolation/seccomp.ts';
import { writerOf } from '../../../../remote-agent/src/sharedFolder.ts';
import { lendSocket } from './lendSocket.ts';
import type { MachineFolder } from './machineFolder.ts';
import { filterFile, openShare, shareSocket, type VmShare } from './shares.ts';
import { missingTool } from './tools.ts';
import { sealedVirtiofsd, virtiofsdStyle, type Virtiofsd } from './virtiofsd.ts';

/** Starts the server of one folder: what it is given open, and whom it is started as. */
export type SpawnShare = (
  program: string,
  args: readonly string[],
  files: {
    /** Becomes its standard input. */
    readonly socket: number;
    readonly output: number;
    /** From descriptor 3 on. */
    readonly more: readonly number[];
    readonly owner: FileOwner | undefined;
  },
) => ChildProcess;

export interface ShareOptions {
  readonly folder: MachineFolder;
  readonly shares: readonly VmShare[];
  /** Where the server may be, the best first. */
  readonly virtiofsd: readonly string[];
  readonly spawnShare: SpawnShare;
  readonly links: readonly (readonly [string, string])[];
}

/** What serves the shared folders of one VM. */
export interface ShareServers {
  /** Why the VM can't have its folders; undefined where nothing went wrong with them. */
  fault(): UserError | undefined;
  /** Calls back, once, when one of them ends. */
  onEnd(tell: () => void): void;
  stop(): void;
}

const folderDescriptor = 3;
const filterDescriptor = 4;

/**
 * Starts a server for each shared folder, in a sandbox that holds nothing else, with its socket in the VM's folder. It
 * ends with the VM and with this engine. Throws `isolation-missing` with the remedy where there is none to start, and
 * `unsafe-path` for a folder that was replaced or that its user can't get to.
 */
export async function serveShares(options: ShareOptions): Promise<ShareServers> {
  const { folder, shares } = options;
  const started: StartedShare[] = [];
  const stop = () => started.forEach(({ child }) => child.kill('SIGKILL'));
  if (shares.length > 0) {
    const virtiofsd = findVirtiofsd(options.virtiofsd);
    writeFileSync(folder.file(filterFile), keptGroupsFilter(process.arch === 'arm64' ? 'arm64' : 'x64'), {
      mode: 0o600,
    });
    try {
      for (const [number, share] of shares.entries())
        started.push(await startShare(options, virtiofsd, share, number));
    } catch (error) {
      stop();
      throw error;
    }
  }
  return {
    fault: () => {
      // One that ends because the VM has ended ends well.
      const failed = started.find(({ child }) => child.exitCode || child.signalCode);
      return failed && faultOf(failed);
    },
    onEnd: (tell) => started.forEach(({ child }) => child.once('exit', tell)),
    stop,
  };
}

interface StartedShare {
  readonly child: ChildProcess;
  readonly share: VmShare;
  readonly owner: FileOwner | undefined;
  readonly log: string;
}

async function startShare(
  { folder, spawnShare, links }: ShareOptions,
  virtiofsd: Virtiofsd,
  share: VmShare,
  number: number,
): Promise<StartedShare> {
  const owner = ownerOf(share, number);
  const log = folder.file(`${shareSocket(number)}.log`);
  const opened: number[] = [];
  const open = (descriptor: number) => {
    opened.push(descriptor);
    return descriptor;
  };
  const socket = await lendSocket(
    shareSocket(number),
    (name) => folder.socket(name),
    (name) => folder.file(name),
  );
  try {
    const output = open(openSync(log, 'w', 0o600));
    const more = [open(openShare(share)), open(openSync(folder.file(filterFile), 'r'))];
    const args = sealedVirtiofsd({
      virtiofsd,
      links,
      write: share.write,
      folder: folderDescriptor,
      filter: filterDescriptor,
    });
    const child = spawnShare('bwrap', args, { socket: socket.descriptor, output, more, owner });
    await new Promise<void>((resolve, reject) => {
      child.once('error', () => reject(missingTool('bwrap')));
      child.once('spawn', resolve);
    });
    child.unref();
    return { child, share, owner, log };
  } finally {
    socket.publish();
    opened.forEach(closeSync);
  }
}

/** Whom a folder is served as, as with cards here: a root runner acts for the owner of what is written, else for nobody. */
function ownerOf({ path, write }: VmShare, number: number): FileOwner | undefined {
  const uid = process.getuid?.() ?? -1;
  if (uid !== 0) return undefined;
  const owner =
    writerOf([{ path, write }]) ?? sandboxOwner(uid, readFileSync('/proc/self/uid_map', 'utf8'), number);
  if (!owner || mayEnter(path, owner)) return owner;
  throw new UserError(
    'unsafe-path',
    `The folder ${path} can’t be shown to a card: folders are read as nobody’s where Sallyport is root, who may not enter this one`,
    { path, remedy: `Let others read it (chmod o+rx ${path}), or run Sallyport as an ordinary user.` },
  );
}

function faultOf({ share, owner, log }: StartedShare): UserError {
  const said = readFileSync(log, 'utf8').trim().split('\n').slice(-3).join(' · ');
  const granted = [{ descriptor: folderDescriptor, path: share.path }];
  return (
    closedParentError(said, granted, owner) ??
    new UserError(
      'isolation-missing',
      `The folder ${share.path} is not served to the VM: ${said || 'its server ended'}`,
      {
        path: share.path,
        remedy: 'Run the card on this computer instead (executionService: local).',
      },
    )
  );
}

function findVirtiofsd(programs: readonly string[]): Virtiofsd {
  for (const program of programs.filter((path) => existsSync(path))) {
    const style = virtiofsdStyle(readFileSync(program));
    if (style) return { program, style };
  }
  throw missingTool('virtiofsd');
}
