import type { HostilePlace } from './hostilePlace.ts';
import { slurmPlace } from './slurmPlace.ts';
import { sshPlace } from './sshPlace.ts';
import { vmPlace } from './vmPlace.ts';
import { workerPlace } from './workerPlace.ts';

/** One real place of each kind. */
export const hostilePlaces: readonly HostilePlace[] = [sshPlace, workerPlace, slurmPlace, vmPlace];
