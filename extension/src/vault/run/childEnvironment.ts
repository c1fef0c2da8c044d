type Variables = Readonly<Record<string, string | undefined>>;

/** What any program needs of the person's surroundings. No token, no agent's socket, no options of runtimes. */
const usual: ReadonlySet<string> = new Set(
  'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR TMPDIR PWD SystemRoot ComSpec PATHEXT TEMP TMP USERPROFILE'.split(
    ' ',
  ),
);

/**
 * The environment of a command, from empty: the usual variables, those named in `passed`, and the values. None of
 * Sallyport's or VS Code's own goes on, even if it is named.
 */
export function childEnvironment(
  variables: Variables,
  passed: readonly string[],
  values: ReadonlyMap<string, string>,
): Record<string, string> {
  const named = new Set(passed.filter((name) => !/^(SALLYPORT|VSCODE|ELECTRON)_/.test(name)));
  const kept = Object.entries(variables).flatMap(([name, value]): [string, string][] =>
    value !== undefined && (usual.has(name) || /^LC_[A-Z]+$/.test(name) || named.has(name))
      ? [[name, value]]
      : [],
  );
  return Object.fromEntries([...kept, ...values]);
}
