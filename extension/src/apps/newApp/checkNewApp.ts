import { idPattern } from '../../../../protocol/src/manifests.ts';
import { hasHidden } from '../../plainText.ts';

export type NameProblem = 'empty' | 'too-long' | 'hidden';
export type IdProblem = 'empty' | 'too-long' | 'start' | 'characters';

/** What is wrong with a name of an app; undefined where nothing is. */
export function nameProblem(name: string): NameProblem | undefined {
  if (name.trim() === '') return 'empty';
  if (name.trim().length > 200) return 'too-long';
  return hasHidden(name) ? 'hidden' : undefined;
}

/** What is wrong with an id of an app (`idPattern`); undefined where nothing is. */
export function idProblem(id: string): IdProblem | undefined {
  if (id === '') return 'empty';
  if (!/^[a-z]/.test(id)) return 'start';
  if (!/^[a-z0-9-]*$/.test(id)) return 'characters';
  return idPattern.test(id) ? undefined : 'too-long';
}
