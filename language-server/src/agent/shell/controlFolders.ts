/**
 * Names that no shell sees, anywhere in a project: what version control, editors and Sallyport keep there can hold
 * credentials, and decides what runs on this machine. Compared without regard to case.
 */
const hiddenNames: ReadonlySet<string> = new Set([
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
]);

/** True for a name of a file or folder that shells do not see. */
export function isHiddenFromShells(name: string): boolean {
  return hiddenNames.has(name.normalize('NFC').toLowerCase());
}
