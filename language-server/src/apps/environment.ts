type Variables = Readonly<Record<string, string | undefined>>;

/** What git is started with, from the person's environment; the rest of it is set by `fetchRepository`. */
export function gitEnvironment(
  protocol: 'https' | 'ssh',
  variables: Variables = process.env,
): Record<string, string> {
  const names = protocol === 'ssh' ? [...kept, ...forSsh] : kept;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = variables[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

const kept = ['PATH', 'SystemRoot', 'TMPDIR'];
/** Keys stay in the agent; OpenSSH finds its own files by the user, whatever HOME says. */
const forSsh = ['SSH_AUTH_SOCK', 'USER', 'LOGNAME'];
