import type { Node } from 'jsonc-parser';
import { covers } from '../../../protocol/src/permissions.ts';
import { isFramingHeader, mostDescriptors } from '../../../protocol/src/vaultUse.ts';
import { checkHost } from './hosts.ts';
import { at, itemsOf, spanOf, textOf } from './nodes.ts';
import { problem, type Report } from './problem.ts';
import { reportRepeated } from './repeated.ts';

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
  checkVault(itemsOf(at(permissions, 'vault')), at(permissions, 'network'), report);
}

function checkVault(wishes: readonly Node[], network: Node | undefined, report: Report): void {
  const variableOf = (wish: Node) =>
    at(wish, 'env') ?? (isVariableUse(textOf(at(wish, 'use', 'type'))) ? at(wish, 'use', 'name') : undefined);
  reportSameName(wishes, variableOf, report);
  let descriptors = 0;
  for (const wish of wishes) {
    const use = at(wish, 'use');
    if (wish.type === 'object' && (at(wish, 'env') === undefined) === (use === undefined)) {
      const { start } = spanOf(wish);
      report(problem('vault-use', { start, end: start + 1 }, []));
    }
    const variable = variableOf(wish);
    const name = textOf(variable);
    if (variable && name !== undefined && reservedVariables.test(name)) {
      report(problem('reserved-variable', spanOf(variable), [name]));
    }
    const type = textOf(at(use, 'type'));
    if (type === 'fd' && use && ++descriptors > mostDescriptors) {
      report(problem('too-many-entries', spanOf(use), [descriptors, mostDescriptors]));
    }
    checkRequestUse(use, network, report);
  }
}

/** The rules of a value that is put into requests: the header can carry one, and each host is named whole and listed. */
export function checkRequestUse(use: Node | undefined, network: Node | undefined, report: Report): void {
  const header = at(use, 'name');
  if (textOf(at(use, 'type')) === 'header' && header && isFramingHeader(textOf(header) ?? '')) {
    report(problem('vault-header', spanOf(header), [textOf(header) ?? '']));
  }
  for (const item of itemsOf(at(use, 'hosts'))) checkVaultHost(item, network, report);
}

function isVariableUse(type: string | undefined): boolean {
  return type === 'env' || type === 'fd';
}

/** A value goes to hosts that are named whole, and only past the egress proxy, which stands before listed hosts. */
function checkVaultHost(item: Node, network: Node | undefined, report: Report): void {
  const host = textOf(item);
  if (host === undefined) return;
  if (host.startsWith('*')) return report(problem('vault-host', spanOf(item), [host]));
  checkHost(spanOf(item), host, report);
  const listed = itemsOf(network).flatMap((each) => textOf(each) ?? []);
  const isCovered = listed.some((each) => covers({ name: 'network', host: each }, { name: 'network', host }));
  if (!isCovered) report(problem('vault-host-closed', spanOf(item), [host]));
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
