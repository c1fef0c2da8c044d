import { isAbsolute, join, normalize } from 'node:path';
import type { Reason } from '../../../protocol/src/engine.ts';
import type { CardManifest } from '../../../protocol/src/manifests.ts';
import { localPlace, parsePlace } from '../../../protocol/src/places.ts';
import { covers, wholeNetwork, type Permission } from '../../../protocol/src/permissions.ts';
import type { JobAccess } from '../../../protocol/src/runner.ts';
import type { VaultWish } from '../../../protocol/src/vault.ts';
import { parseVaultUse } from '../../../protocol/src/vaultUse.ts';

/** What a job gets where its card asks for nothing. */
export const closedAccess: JobAccess = { network: { kind: 'none' }, hostFolders: [] };

/**
 * What the runner opens for a card whose permissions were all accepted. A permission that no runner can give yet is a
 * refusal, never left out: a card must not run with less than it was written for and call that success.
 */
export function toAccess(
  asked: readonly Permission[],
  runtime: CardManifest['runtime'],
  root: string,
  userFolder: string,
): { access: JobAccess; vault: readonly VaultWish[] } | { refused: Reason } {
  if (runtime === 'js' && asked.length > 0) {
    return refuse(
      'a js card has no way to the network, files or secrets',
      'Remove its permissions, or use the runtime node.',
    );
  }
  const hosts: string[] = [];
  const hostFolders: { path: string; name: string; write: boolean }[] = [];
  let projectRoot: string | undefined;
  let place: string = localPlace;
  const vault: Extract<Permission, { name: 'vaultItem' }>[] = [];
  for (const permission of asked) {
    switch (permission.name) {
      case 'network':
        hosts.push(permission.host);
        break;
      case 'unsandboxed':
        projectRoot = root;
        break;
      case 'hostFolder': {
        const path = absolute(permission.path, userFolder);
        if (path === undefined) {
          return refuse(
            `the shared folder ${permission.path} is not an absolute path`,
            'Write it from / or from ~/ on.',
          );
        }
        hostFolders.push({ path, name: permission.mount, write: permission.write });
        break;
      }
      case 'execution':
        place = permission.service;
        break;
      case 'vaultItem':
        vault.push(permission);
        break;
      case 'environmentSource':
      case 'vaultWish':
      case 'generate':
      case 'storage':
      case 'models':
      case 'results':
      case 'package':
        return refuse(
          `this version can’t give a card the permission “${permission.name}”`,
          'Remove it from _card.json.',
        );
    }
  }
  if (!parsePlace(place)) {
    return refuse(`“${place}” names no place`, 'Write local, vm, ssh:HOST, worker:NAME or slurm:HOST.');
  }
  // A VM is on this computer and is shown its folders; the project itself is shown where no wall is wanted, which is here.
  const showsFolders = place === localPlace || place === 'vm';
  if ((!showsFolders && hostFolders.length > 0) || (place !== localPlace && projectRoot !== undefined)) {
    return refuse(
      `folders of this computer can’t be shown to a card on ${place}`,
      'Make the folder an input of the card, or run it here.',
    );
  }
  const network: JobAccess['network'] = hosts.includes(wholeNetwork)
    ? { kind: 'all' }
    : hosts.length > 0
      ? { kind: 'hosts', hosts }
      : { kind: 'none' };
  const wishes = toWishes(vault, network);
  if ('refused' in wishes) return wishes;
  return {
    access: { network, hostFolders, ...(projectRoot === undefined ? {} : { projectRoot }) },
    vault: wishes.vault,
  };
}

/** A value is put into requests by the egress proxy, so only where a list of hosts has one. */
function toWishes(
  asked: readonly Extract<Permission, { name: 'vaultItem' }>[],
  network: JobAccess['network'],
): { vault: readonly VaultWish[] } | { refused: Reason } {
  const vault: VaultWish[] = [];
  for (const { item, field, use: text } of asked) {
    const use = parseVaultUse(text);
    if (!use) return refuse(`the use of ${field} of ${item} can’t be read`, 'Write it anew in _card.json.');
    const closed =
      'hosts' in use &&
      use.hosts.find(
        (host) =>
          network.kind !== 'hosts' ||
          !network.hosts.some((listed) =>
            covers({ name: 'network', host: listed }, { name: 'network', host }),
          ),
      );
    if (closed !== false && closed !== undefined) {
      return network.kind === 'all'
        ? refuse(
            `${field} of ${item} can’t be put into requests of a card with the whole network`,
            'List the hosts that the card needs in “network”.',
          )
        : refuse(
            `the card can’t reach ${closed}, where ${field} of ${item} is to go`,
            'List it in “network”.',
          );
    }
    vault.push({ item, field, use });
  }
  return { vault };
}

function refuse(detail: string, remedy: string): { refused: Reason } {
  return { refused: { kind: 'bad-card', detail, remedy } };
}

function absolute(path: string, userFolder: string): string | undefined {
  if (path === '~') return userFolder;
  if (path.startsWith('~/')) return join(userFolder, path.slice(2)).replace(/(.)\/$/, '$1');
  return isAbsolute(path) ? normalize(path).replace(/(.)\/$/, '$1') : undefined;
}
