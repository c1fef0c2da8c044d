import * as z from 'zod/mini';
import type { NetworkKind } from './connectionKinds.ts';

/** A model as a provider lists it. */
export const listedModel = z.strictObject({ id: z.string(), name: z.string() });
export type ListedModel = z.infer<typeof listedModel>;

const data = z.object({
  data: z.array(z.object({ id: z.string(), display_name: z.optional(z.string()) })),
});
const tags = z.object({ models: z.array(z.object({ name: z.string() })) });

const mostModels = 2000;

/** Reads the answer of a model list. Undefined where it is none. Names that no request could carry are left out. */
export function parseModelList(kind: NetworkKind, text: string): ListedModel[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const models =
    kind === 'ollama'
      ? z.safeParse(tags, value).data?.models.map(({ name }) => ({ id: name, name }))
      : z.safeParse(data, value).data?.data.map(({ id, display_name }) => ({ id, name: display_name ?? id }));
  return models
    ?.filter(({ id }) => /^[\x21-\x7e]{1,200}$/.test(id))
    .slice(0, mostModels)
    .sort((a, b) => a.id.localeCompare(b.id));
}
