import { UserError } from '../../../protocol/src/errors.ts';
import { terminalPieces } from '../../../protocol/src/placeTerminal.ts';
import { exitCodes } from './exitCodes.ts';
import type { Session } from './session.ts';
import { printable } from './terminal.ts';

/** `sallyport vm terminal`: a shell in the project's VM at this terminal. Returns the shell's exit code. */
export async function vmTerminal(session: Session): Promise<number> {
  const { args, terminal: here, root } = session;
  const { screen } = here;
  if (!screen) {
    here.note('“vm terminal” needs a terminal at both ends; run it in one, without a pipe.');
    return exitCodes.badProject;
  }
  const { manifest } = session.project();
  const { network } = args;
  const kind = network ? 'VM with a network' : 'VM';
  here.note(printable(`Opening a terminal in the ${kind} of ${manifest?.name ?? root}…`));
  const { terminal } = await session.call('place/terminalOpen', { root, network, ...sizeOf(screen) });
  here.note('The cards’ folders are under /jobs. Ctrl-D ends the terminal.');
  const write = async (text: string) => {
    for (const piece of terminalPieces(text))
      await session.call('place/terminalWrite', { terminal, text: piece });
  };
  const resize = () =>
    void session.call('place/terminalResize', { terminal, ...sizeOf(screen) }).catch(() => undefined);
  const giveBack = screen.takeOver(write, resize);
  try {
    for (;;) {
      const { text, end } = await session.call('place/terminalRead', { terminal });
      await screen.write(text);
      if (!end) continue;
      if (end.code !== null) return end.code;
      if (end.signal !== null) return signalled;
      throw new UserError('closed', 'The connection to the VM was lost');
    }
  } finally {
    giveBack();
    await session.call('place/terminalClose', { terminal });
  }
}

/** As shells say that a signal ended a program. */
const signalled = 128 + 15;

function sizeOf({ columns, rows }: { readonly columns: number; readonly rows: number }) {
  // A terminal that does not know its size says zero.
  const within = (value: number, usual: number) => Math.min(1000, Math.max(1, Math.floor(value) || usual));
  return { columns: within(columns, 80), rows: within(rows, 24) };
}
