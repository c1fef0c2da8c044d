/**
 * What stands before the files of an app in an archive: nothing where `app.json` is at the top, else the one folder that
 * everything lies in and that has it.
 */
export function topFolder(paths: Iterable<string>, marker = 'app.json'): string {
  const all = [...paths];
  if (all.includes(marker)) return '';
  const first = all[0] ?? '';
  const folder = first.slice(0, first.indexOf('/') + 1);
  const isOne = folder !== '' && all.every((path) => path.startsWith(folder));
  return isOne && all.includes(`${folder}${marker}`) ? folder : '';
}
