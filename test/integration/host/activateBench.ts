import { performance } from 'node:perf_hooks';
import * as vscode from 'vscode';

/** VS Code's own marks around loading the extension's file and calling `activate`, printed as one line. */
export async function run(): Promise<void> {
  await vscode.extensions.getExtension('sallyport.sallyport')?.activate();
  const marks = performance.getEntriesByType('mark');
  const between = (from: string, to: string): number | null => {
    const start = marks.find(
      (mark) => mark.name.startsWith(from) && mark.name.endsWith('sallyport.sallyport'),
    );
    const end = marks.find((mark) => mark.name.startsWith(to) && mark.name.endsWith('sallyport.sallyport'));
    return start && end ? end.startTime - start.startTime : null;
  };
  console.log(
    'SALLYPORT-RESULT ' +
      JSON.stringify({
        title: JSON.stringify({
          loadMs: between('code/extHost/willLoadExtensionCode', 'code/extHost/didLoadExtensionCode'),
          activateMs: between('code/extHost/willActivateExtension', 'code/extHost/didActivateExtension'),
        }),
        error: null,
      }),
  );
}
