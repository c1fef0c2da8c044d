/** The language id of `sallyport.json` and `_card.json`; the extension's manifest names the same. */
export const manifestLanguage = 'sallyport-manifest';

/** The files of apps by name. They stay JSON: other programs have files of these names too. */
export const appManifestNames = { 'app.json': 'app', 'plugin.json': 'plugin' } as const;

export type AppManifestKind = (typeof appManifestNames)[keyof typeof appManifestNames];

/**
 * True where a text reads like Sallyport's manifest of this kind and not like another program's file. Looks for words
 * alone, so that it can be asked before anything parses the text.
 */
export function looksLikeAppManifest(kind: AppManifestKind, text: string): boolean {
  return marks[kind].every((mark) => mark.test(text)) || text.includes(`/${kind}.schema.json"`);
}

const marks: Readonly<Record<AppManifestKind, readonly RegExp[]>> = {
  app: [/"appVersion"\s*:/],
  plugin: [/"functions"\s*:/, /"entry"\s*:/],
};
