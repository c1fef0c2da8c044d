import type { ChildProcess } from 'node:child_process';
import { UserError } from '../../../../protocol/src/errors.ts';

export interface ToolCall {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Told of each line that the program writes. */
  readonly onLine?: (line: string) => void;
}

/** Starts a program of the system with piped output, no input and a small environment. */
export type SpawnTool = (program: string, args: readonly string[], folder: string) => ChildProcess;

/**
 * Runs a program of the system to its end and returns what it wrote to its standard output. Throws `cancelled`,
 * `isolation-missing` where it is not installed, and `internal` with its last lines where it failed.
 */
export async function runTool(spawnTool: SpawnTool, call: ToolCall): Promise<string> {
  call.signal.throwIfAborted();
  const child = spawnTool(call.program, call.args, call.folder);
  const stop = () => void child.kill('SIGKILL');
  call.signal.addEventListener('abort', stop, { once: true });
  const out: string[] = [];
  const tail: string[] = [];
  const listen = (stream: NodeJS.ReadableStream | null, keep: boolean) => {
    let rest = '';
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      if (keep) out.push(text);
      const lines = (rest + text).split(/[\r\n]/);
      rest = lines.pop() ?? '';
      for (const line of lines.filter((each) => each.trim() !== '')) {
        tail.push(line);
        if (tail.length > tailLines) tail.shift();
        call.onLine?.(line);
      }
    });
  };
  listen(child.stdout, true);
  listen(child.stderr, false);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (call.signal.aborted) throw new UserError('cancelled', `${call.program} was cancelled`);
    if (code === 0) return out.join('');
    throw new UserError(
      'internal',
      `${call.program} failed: ${tail.join(' · ') || `it ended with ${code ?? 'a signal'}`}`,
    );
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
    throw missingTool(call.program);
  } finally {
    call.signal.removeEventListener('abort', stop);
  }
}

const tailLines = 6;

/** Which package of the distribution brings a program that the VM needs. */
const packageOf: Readonly<Record<string, string>> = {
  'qemu-system-x86_64': 'qemu-system-x86',
  'qemu-system-aarch64': 'qemu-system-arm',
  'qemu-img': 'qemu-utils',
  mke2fs: 'e2fsprogs',
  'dpkg-deb': 'dpkg',
  'apt-get': 'apt',
  bwrap: 'bubblewrap',
  virtiofsd: 'virtiofsd, or qemu-system-common on Debian 12',
};

/** The error for a program that is not there, with the package that brings it. */
export function missingTool(program: string): UserError {
  const name = packageOf[program] ?? program;
  const remedy =
    program === 'apt-get' || program === 'dpkg-deb'
      ? 'A VM can be built on Debian, Ubuntu and their kin for now; choose another place for this card.'
      : `Install it: sudo apt install ${name}`;
  return new UserError('isolation-missing', `${program} is not installed here, and a VM needs it`, {
    remedy,
  });
}
