import type { IsolationCheck } from '../../../protocol/src/runner.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import type { Environment } from '../environment.ts';
import { loadHelpers } from '../helpers.ts';
import type { Interpreters } from '../interpreters.ts';
import type { RunnerFolder } from '../runnerFolder.ts';
import type { Probed } from './isolation.ts';
import { createPlace, ownNodeTarget, type PlaceOptions } from './place.ts';
import { probeBubblewrap } from './probe.ts';
import { probeSeatbelt } from './probeSeatbelt.ts';

const otherwise =
  'Run the card on Linux, for example in a Dev Container, WSL or over Remote-SSH. Cards with the runtime “js” run everywhere.';
const asOtherUser =
  'Run Sallyport as an ordinary user, or give its container a range of user ids. Cards with the runtime “js” run anyway.';

/** Probes what seals cards on this platform. Never rejects: where anything goes wrong there is no isolation. */
export async function probeHere(
  environment: Environment,
  folder: RunnerFolder,
  interpreters: Interpreters,
  { fixedAddresses }: Pick<PlaceOptions, 'fixedAddresses'> = {},
): Promise<Probed> {
  const { platform } = environment;
  try {
    if (platform === 'darwin') return await probeSeatbelt({ folder, helpers: loadHelpers() });
    if (platform !== 'linux')
      return noIsolation(`${platform} has no sandbox that Sallyport knows`, otherwise);
    const ownNode = interpreters.node?.path === ownNodeTarget ? environment.nodePath : undefined;
    const place = createPlace({
      environment,
      folder,
      helpers: loadHelpers(),
      nodePath: ownNode,
      fixedAddresses,
    });
    return await probeBubblewrap({ place, folder: folder.nextJobFolder(), hasFile: environment.hasFile });
  } catch (error) {
    return noIsolation(errorMessage(error), environment.uid === 0 ? asOtherUser : otherwise);
  }
}

function noIsolation(detail: string, remedy: string): Probed {
  const title = 'Cards can be sealed on this machine';
  const check: IsolationCheck = { id: 'platform', title, ok: false, detail, remedy };
  return { isolation: undefined, report: { kind: 'none', version: '', checks: [check] } };
}
