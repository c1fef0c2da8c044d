import { closeSync } from 'node:fs';
import { asFolder, openEntry, readNames } from '../../../remote-agent/src/files/noFollow.ts';
import { openRealFolder } from '../../../remote-agent/src/files/openBelow.ts';
import { withParent, type Place } from './place.ts';

/** The names in the folder at a place; none where there is no folder. Nothing is followed. */
export function namesIn(place: Place): string[] {
  const names = withParent(place, (parent, name) => {
    const entry = openEntry(parent, name);
    if (entry.kind === 'file') closeSync(entry.descriptor);
    if (entry.kind !== 'directory') return [];
    try {
      return [...readNames(asFolder(parent, name, entry))].map((raw) => raw.toString('utf8'));
    } finally {
      closeSync(entry.descriptor);
    }
  });
  return names ?? [];
}

/** The names in a base folder itself. */
export function namesInBase(base: string): string[] {
  const folder = openRealFolder(base);
  try {
    return [...readNames(folder)].map((raw) => raw.toString('utf8'));
  } finally {
    closeSync(folder.descriptor);
  }
}
