/** The person's own variables: read here and nowhere else of `vault run`. */
export function personVariables(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
