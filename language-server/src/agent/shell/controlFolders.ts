import { foldName } from '../../foldName.ts';

/**
 * Names that no shell sees, anywhere in a project: what version control, editors and Sallyport keep there can hold
 * credentials, and decides what runs on this machine.
 */
const hiddenNames: readonly string[] = [
  '.git',
  '.hg',
  '.svn',
  '.jj',
  '.sallyport',
  '.ssh',
  '.gnupg',
  '.aws',
  '.docker',
  '.kube',
  '.netrc',
  '.npmrc',
  '.pypirc',
];
const hidden: ReadonlySet<string> = new Set(hiddenNames.map(foldName));

/** True for a name of a file or folder that shells do not see, or that a file system may take for one. */
export function isHiddenFromShells(name: string): boolean {
  return hidden.has(foldName(name));
}
