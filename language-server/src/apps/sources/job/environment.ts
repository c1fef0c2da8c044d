import * as z from 'zod/mini';

const params = z.strictObject({
  url: z.string(),
  ref: z.nullable(z.string()),
  /** A certificate in PEM that is trusted besides the system's; for tests. */
  ca: z.nullable(z.string()),
});

/** What a sealed fetch is started with (docs/cards.md): its parameters, its folders, and the way out. */
export function readJob(variables: Readonly<Record<string, string | undefined>> = process.env) {
  const names = ['PATH', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];
  return {
    ...params.parse(JSON.parse(variables['SALLYPORT_PARAMS'] ?? '')),
    outputs: variables['SALLYPORT_OUTPUTS'] ?? '',
    scratch: variables['TMPDIR'] ?? '/tmp',
    environment: Object.fromEntries(
      names.flatMap((name) => {
        const value = variables[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
  };
}
