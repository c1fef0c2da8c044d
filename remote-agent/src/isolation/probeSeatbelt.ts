import { existsSync, realpathSync } from 'node:fs';
import type { IsolationCheck } from '../../../protocol/src/runner.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { standbyRequest } from '../jobRequest.ts';
import { removeFolder, type RunnerFolder } from '../runnerFolder.ts';
import { evidence } from './evidence.ts';
import { initScript } from './initScript.ts';
import type { Probed } from './isolation.ts';
import { openSeatbelt, seatbeltProgram } from './seatbeltSandboxes.ts';

/** From inside: each line that comes out is something that should have failed, but for the last. */
const script = `
for file in /private/tmp/sallyport-probe "$SALLYPORT_CARD/probe" "$SALLYPORT_INPUTS/probe"; do
  (: >"$file") 2>/dev/null && echo "wrote $file"
done
(: </etc/passwd) 2>/dev/null && echo 'read /etc/passwd'
/usr/bin/nc -z -w 1 127.0.0.1 22 2>/dev/null && echo 'connected'
(: >"$SALLYPORT_OUTPUTS/probe") && echo done
`;

/** The same for macOS: a whole sandbox, and what must fail in it. Never rejects. */
export async function probeSeatbelt(options: {
  readonly folder: RunnerFolder;
  readonly helpers: Readonly<Record<string, string>>;
}): Promise<Probed> {
  const { folder, helpers } = options;
  const check = { id: 'seatbelt', title: 'A sandbox of macOS starts and holds' };
  const remedy = 'Cards with the runtime “js” run anyway; others need Linux, for example a Dev Container.';
  const fail = (detail: string): Probed => {
    const failed: IsolationCheck = { ...check, ok: false, detail, remedy };
    return { isolation: undefined, report: { kind: 'none', version: '', checks: [failed] } };
  };
  if (!existsSync(seatbeltProgram)) return fail(`${seatbeltProgram} is not there`);
  try {
    for (const [path, text] of Object.entries(helpers)) folder.write(`helpers/${path}`, text);
    const helpersFolder = realpathSync(folder.path) + '/helpers';
    const path = folder.nextJobFolder();
    const { sandbox, environment } = await openSeatbelt(helpersFolder, standbyRequest(), path);
    let text = '';
    sandbox.output.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const closed = new Promise((resolve) => sandbox.output.once('close', resolve));
    const none = { processes: undefined, dataBytes: undefined, fileBytes: undefined, openFiles: 64 };
    sandbox.start(initScript({ argv: ['/bin/sh', '-c', script], environment, limits: none }));
    await sandbox.ended;
    await sandbox.end();
    await closed;
    removeFolder(path);
    if (text !== 'done\n') return fail(text.trim() || 'the probe said nothing');
    return {
      isolation: {
        kind: 'seatbelt',
        open: (request, jobFolder) => openSeatbelt(helpersFolder, request, jobFolder),
      },
      report: { kind: 'seatbelt', version: '', checks: [{ ...check, ok: true, detail: evidence.seatbelt }] },
    };
  } catch (error) {
    return fail(errorMessage(error));
  }
}
