import path from 'node:path';
import { defaultCardLimits } from '../../../protocol/src/limits.ts';
import type { JobSpec } from '../../../protocol/src/runner.ts';
import { putBlob, putTree, readFolder } from '../../support/blobs.ts';
import { fillIn, fixtures, type Attack } from './attack.ts';
import type { Lures } from './lures.ts';

/** The parameters of an attack as JSON text. `bounded` asks the program not to do more than show that it could. */
export function jobParameters(attack: Attack, lures: Lures, how: { readonly bounded: boolean }): string {
  if (attack.paramsBytes !== undefined) return JSON.stringify({ padding: 'x'.repeat(attack.paramsBytes) });
  return JSON.stringify({
    lures: lures.values,
    bounded: how.bounded,
    ...fillIn(attack.params ?? {}, lures.values),
  });
}

/** What the engine would send for the attack's card, its code and inputs put into the blob folder. */
export async function jobOf(
  attack: Attack,
  entry: Attack['entry'],
  jobId: string,
  lures: Lures,
  blobs: string,
): Promise<JobSpec> {
  const files = { ...(await readFolder(path.join(fixtures, 'lib'))), ...(await readFolder(attack.folder)) };
  // What entries of an invented listing refer to.
  if (attack.codeEntries) await putBlob(blobs, '');
  const inputs = Object.entries(fillIn(attack.inputs ?? {}, lures.values));
  return {
    jobId,
    cardId: attack.name,
    runtime: attack.runtime,
    entry: fillIn(entry, lures.values),
    code: await putTree(blobs, files, fillIn(attack.codeEntries ?? [], lures.values)),
    inputs: await Promise.all(
      inputs.map(async ([port, { type, text }]) => ({ port, type, artifact: await putBlob(blobs, text) })),
    ),
    outputs: Object.entries(attack.outputs ?? {}).map(([port, { type, optional }]) => ({
      port,
      type,
      optional: optional ?? false,
    })),
    params: jobParameters(attack, lures, { bounded: false }),
    // A VM of a small machine has no more.
    limits: { ...defaultCardLimits, memoryMB: 512, seconds: 30, ...attack.limits },
    access: {
      network: networkOf(attack, lures),
      hostFolders: fillIn(attack.hostFolders ?? [], lures.values),
      ...(attack.showsProject && { projectRoot: lures.values['project'] }),
    },
  };
}

function networkOf(attack: Attack, lures: Lures): JobSpec['access']['network'] {
  if (attack.network === 'all') return { kind: 'all' };
  return attack.hosts ? { kind: 'hosts', hosts: fillIn(attack.hosts, lures.values) } : { kind: 'none' };
}
