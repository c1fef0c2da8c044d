import type { AppLanguage, AppParts, AppTemplate } from '../extension/src/apps/newApp/composeApp.ts';

/** The types of `sallyport` as authors get them. */
export function declarations(): Promise<string>;

/** The template as `composeApp` takes it. */
export function readTemplate(): Promise<AppTemplate>;

/**
 * Writes a new app from the template into `folder`, which must not be there. Rejects with a sentence. Without choices it
 * has a plugin, is JavaScript, and is named after its id.
 */
export function newApp(
  id: string,
  folder: string,
  choices?: { readonly name?: string; readonly parts?: AppParts; readonly language?: AppLanguage },
): Promise<void>;
