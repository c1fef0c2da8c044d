import type { Node } from 'jsonc-parser';
import { removeFix } from './edits.ts';
import { checkHost } from './hosts.ts';
import { at, itemsOf, spanOf, textOf } from './nodes.ts';
import { problem, type Report } from './problem.ts';

/** The rules of a card's `permissions` beyond their shape. */
export function checkPermissions(text: string, permissions: Node, report: Report): void {
  const hosts = itemsOf(at(permissions, 'network'));
  for (const item of hosts) {
    const host = textOf(item);
    if (host !== undefined) checkHost(spanOf(item), host, report);
  }
  reportRepeated(text, hosts, report);
  const folders = itemsOf(at(permissions, 'hostFolders'));
  reportSameName(folders, (folder) => at(folder, 'name'), report);
  for (const folder of folders) checkFolder(at(folder, 'path'), report);
  reportRepeated(text, itemsOf(at(permissions, 'environmentSources')), report);
  const uses = itemsOf(at(permissions, 'vault'));
  reportSameName(uses, (use) => at(use, 'env'), report);
  for (const use of uses) {
    const variable = at(use, 'env');
    const name = textOf(variable);
    if (variable && name !== undefined && reservedVariables.test(name)) {
      report(problem('reserved-variable', spanOf(variable), [name]));
    }
  }
}

/** Variables by which a value would become a program's code, search path or place of its files. */
const reservedVariables =
  /^(PATH|HOME|TMPDIR|IFS|ENV|SHELL|PS4|BASH_ENV|CDPATH|GCONV_PATH|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS|(LD|DYLD|SALLYPORT|PYTHON|NODE|GLIBC|MALLOC|PERL5|RUBY)_.*|PYTHON.*|PERL5LIB|RUBYLIB)$/;

function checkFolder(node: Node | undefined, report: Report): void {
  const path = textOf(node);
  if (!node || path === undefined || path === '') return;
  const absolute = /^(~(\/|$)|\/|[A-Za-z]:[\\/])/.test(path);
  if (
    !absolute ||
    /\p{Cc}/u.test(path) ||
    path.split(/[\\/]/).some((part) => part === '..' || part === '.')
  ) {
    report(problem('bad-host-folder', spanOf(node), [path]));
  } else if (broadFolders.test(path)) {
    report(problem('broad-host-folder', spanOf(node), [path]));
  }
}

/** The roots of everything: the disk, the system's own folders, all homes, the home, a folder of keys. */
const broadFolders =
  /^((\/|~|[A-Za-z]:)[\\/]*|\/+(home|Users|root|etc|var|usr|proc|sys|dev|run|tmp|private|Volumes|mnt|media)\/*|\/+(home|Users)\/+[^/]+\/*|(~|\/+(home|Users)\/+[^/]+|\/+root)\/+\.(ssh|gnupg|aws|azure|kube|docker|config)(\/.*)?)$/;

/** The same value twice changes nothing. */
function reportRepeated(text: string, items: readonly Node[], report: Report): void {
  const seen = new Set<string>();
  for (const item of items) {
    const value = textOf(item);
    if (value === undefined) continue;
    if (seen.has(value))
      report(problem('listed-twice', spanOf(item), [value], removeFix(text, spanOf(item), 'this one')));
    seen.add(value);
  }
}

/** Two things under one name: which of them a card would get is nobody's guess. */
function reportSameName(
  items: readonly Node[],
  nameOf: (item: Node) => Node | undefined,
  report: Report,
): void {
  const seen = new Set<string>();
  for (const item of items) {
    const node = nameOf(item);
    const name = textOf(node);
    if (!node || name === undefined) continue;
    if (seen.has(name)) report(problem('same-name', spanOf(node), [name]));
    seen.add(name);
  }
}
