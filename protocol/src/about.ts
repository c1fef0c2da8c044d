import * as z from 'zod/mini';

/** What a schema says of itself to people who write the file. */
export interface About {
  /** A usual value, which completion puts in. */
  readonly example?: string | number;
  /** What the values of an enumeration mean. */
  readonly meanings?: Readonly<Record<string, string>>;
}

/** Gives a schema the text that hovers, completion and the generated JSON schemas show. */
export function about<T extends z.ZodMiniType>(
  description: string | undefined,
  schema: T,
  { example, meanings }: About = {},
): T {
  z.globalRegistry.add(schema, {
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
    ...(meanings === undefined ? {} : { meanings }),
  });
  return schema;
}
