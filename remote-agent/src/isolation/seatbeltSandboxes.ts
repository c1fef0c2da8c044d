import { spawn } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { removeFolder } from '../runnerFolder.ts';
import { makeStageFolders } from '../stage.ts';
import type { PreparedSandbox, SandboxRequest } from './bubblewrapSandboxes.ts';
import { keepGroup } from './keeper.ts';
import { openSandbox } from './sandbox.ts';
import { seatbeltProfile, systemFolders } from './seatbelt.ts';

export const seatbeltProgram = '/usr/bin/sandbox-exec';

const descriptors = 6;

/**
 * Starts a sandbox of macOS around fresh folders under `folder`. There are no namespaces: paths are the real ones, and
 * granted folders and host lists, which need more than that, are refused.
 */
export async function openSeatbelt(
  helpersFolder: string,
  request: SandboxRequest,
  folder: string,
): Promise<PreparedSandbox> {
  if (request.network === 'bridge' || request.mounts.length > 0) {
    const remedy = 'Run the card on Linux, for example in a Dev Container or over Remote-SSH.';
    throw new UserError('isolation-missing', 'macOS has no sandbox for granted folders and host lists', {
      remedy,
    });
  }
  makeStageFolders(folder);
  try {
    const root = realpathSync(folder);
    const staged = {
      folder: root,
      codeFolder: join(root, 'code'),
      inputsFolder: join(root, 'inputs'),
      outputsFolder: join(root, 'outputs'),
      paramsFile: join(root, 'params.json'),
    };
    const [home, temporary] = [join(root, 'home'), join(root, 'tmp')];
    for (const each of [home, temporary]) mkdirSync(each, { mode: 0o700 });
    const profile = seatbeltProfile({
      readable: [...systemFolders, helpersFolder, staged.codeFolder, staged.inputsFolder],
      writable: [staged.outputsFolder, home, temporary],
      network: request.network,
    });
    const child = spawn(seatbeltProgram, ['-p', profile, '/bin/sh', '-s'], {
      stdio: Array.from({ length: descriptors }, () => 'pipe' as const),
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      cwd: home,
      detached: true,
    });
    const sandbox = await openSandbox(child, {
      keeper: keepGroup(child),
      outputsPath: () => staged.outputsFolder,
    });
    const environment = {
      HOME: home,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
      PYTHONPATH: join(helpersFolder, 'python'),
      PYTHONUNBUFFERED: '1',
      NODE_PATH: join(helpersFolder, 'node'),
      SALLYPORT_CARD: staged.codeFolder,
      SALLYPORT_INPUTS: staged.inputsFolder,
      SALLYPORT_OUTPUTS: staged.outputsFolder,
      SALLYPORT_PROGRESS: '3',
      ...request.environment,
    };
    return { sandbox, staged, owner: undefined, cardFolder: staged.codeFolder, environment };
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
}
