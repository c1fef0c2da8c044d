import { dirname } from 'node:path';
import ts from 'typescript';

/** What TypeScript finds wrong in the project of a `tsconfig.json` or `jsconfig.json`, one line each. */
export function checkTypes(configPath: string): string[] {
  const { config, error } = ts.readConfigFile(configPath, (path) => ts.sys.readFile(path)) as {
    readonly config?: unknown;
    readonly error?: ts.Diagnostic;
  };
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, dirname(configPath), undefined, configPath);
  const program = ts.createProgram(parsed.fileNames, { ...parsed.options, noEmit: true });
  return [...(error ? [error] : []), ...parsed.errors, ...ts.getPreEmitDiagnostics(program)].map(
    ({ file, messageText }) =>
      `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
  );
}
