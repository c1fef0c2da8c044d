import * as z from 'zod/mini';

/** The beginning of our tools' names in VS Code, and the tag by which the chat participant finds them. */
export const toolPrefix = 'sallyport_';
export const toolTag = 'sallyport';

const contributed = z.object({
  contributes: z.object({ languageModelTools: z._default(z.array(z.object({ name: z.string() })), []) }),
});

/** Names of the engine's tools that the manifest gives to VS Code, as the engine knows them. */
export function contributedTools(packageJson: unknown): string[] {
  const parsed = z.safeParse(contributed, packageJson);
  if (!parsed.success) return [];
  return parsed.data.contributes.languageModelTools
    .map(({ name }) => name)
    .filter((name) => name.startsWith(toolPrefix))
    .map((name) => name.slice(toolPrefix.length));
}
