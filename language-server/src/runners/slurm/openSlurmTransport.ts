import { UserError } from '../../../../protocol/src/errors.ts';
import type { SlurmChoice } from '../../../../protocol/src/slurmChoice.ts';
import type { AskPerson } from '../places/askSshPerson.ts';
import type { RunnerTransport } from '../places/runnerTransport.ts';
import { openSshSessions, type OpenSshTransportOptions } from '../ssh/openSshTransport.ts';
import { createSlurmTransport } from './slurmTransport.ts';

/** The way to a cluster over its login node, behind one import that is made when it is first connected to. */
export function openSlurmTransport(options: OpenSshTransportOptions, asked: AskPerson): RunnerTransport {
  const { place, host, program } = options;
  const choice = () => askChoice(asked, place);
  return createSlurmTransport({ place, host, sessions: openSshSessions(options), program, choice });
}

/** At a terminal nobody is asked: what the person's shell on the login node names counts there. */
async function askChoice(asked: AskPerson, place: string): Promise<SlurmChoice> {
  try {
    return await asked.ask('place/slurm', { place });
  } catch (error) {
    if (error instanceof UserError && error.code === 'closed') return {};
    throw error;
  }
}
