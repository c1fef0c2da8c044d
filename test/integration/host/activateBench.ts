import * as vscode from 'vscode';
import { resultMark } from './resultMark.ts';

interface Mark {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
}

/** VS Code's own marks around loading the extension's file and calling `activate`, printed as one line. */
export async function run(): Promise<void> {
  const id = 'sallyport.sallyport';
  await vscode.extensions.getExtension(id)?.activate();
  const shared = globalThis as { MonacoPerformanceMarks?: { getMarks(): Mark[] } };
  const marks = new Map(shared.MonacoPerformanceMarks?.getMarks().map((mark) => [mark.name, mark.startTime]));
  const between = (from: string, to: string): number | null => {
    const start = marks.get(`code/extHost/${from}/${id}`);
    const end = marks.get(`code/extHost/${to}/${id}`);
    return start === undefined || end === undefined ? null : end - start;
  };
  const title = JSON.stringify({
    loadMs: between('willLoadExtensionCode', 'didLoadExtensionCode'),
    activateMs: between('willActivateExtension', 'didActivateExtension'),
  });
  console.log(resultMark + JSON.stringify({ title, error: null }));
}
