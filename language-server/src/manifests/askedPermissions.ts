import * as z from 'zod/mini';
import { appManifest, pluginManifest } from '../../../protocol/src/manifests.ts';
import {
  permissionsOfApp,
  permissionsOfCard,
  permissionsOfPlugin,
  type Permission,
} from '../../../protocol/src/permissions.ts';
import { readAppOf } from './appFolder.ts';
import type { ManifestContext } from './manifestContext.ts';

/** What an open manifest asks for, in canonical order; undefined where it is not sound. */
export function askedPermissions({ kind, path, parsed, card }: ManifestContext): Permission[] | undefined {
  switch (kind) {
    case 'project':
      return undefined;
    case 'card':
      return card?.manifest ? permissionsOfCard(card.manifest) : undefined;
    case 'app': {
      const { data } = z.safeParse(appManifest, parsed.value);
      return data && permissionsOfApp(data);
    }
    case 'plugin': {
      const { data } = z.safeParse(pluginManifest, parsed.value);
      return data && permissionsOfPlugin(data, readAppOf(path) ?? {});
    }
  }
}
