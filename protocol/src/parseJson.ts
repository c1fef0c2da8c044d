import * as z from 'zod/mini';

/** The value of a text that may be JSON; undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value of a JSON text that fits a schema; undefined where it is no JSON or does not fit. */
export function parseAs<S extends z.ZodMiniType>(schema: S, text: string): z.infer<S> | undefined {
  const { success, data } = z.safeParse(schema, parseJson(text));
  return success ? data : undefined;
}
