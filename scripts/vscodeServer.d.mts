export const vscodeServerVersion: string;
export function ensureVscodeServer(
  say?: (text: string) => void,
): Promise<{ version: string; root: string; main: string }>;
export function serverArguments(options: {
  port: number;
  dataDir: string;
  connectionToken?: string;
  hasTrust?: boolean;
  isTestDriver?: boolean;
}): string[];
