/**
 * One form for all names, or paths with `/`, that a file system may take for one: APFS and NTFS fold case (a long s is
 * an s, a ligature its letters), macOS folds Unicode's forms, and HFS+ passes over characters that show nothing. For
 * comparing only.
 */
export function foldName(name: string): string {
  return name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .normalize('NFKC');
}
