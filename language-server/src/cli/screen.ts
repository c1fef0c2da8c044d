import type { ReadStream, WriteStream } from 'node:tty';

/** A real terminal that one command takes over. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  /**
   * Passes every key on as it is, Ctrl-C included, each after the one before was taken; what `onInput` rejects with is
   * dropped. Returns what gives the terminal back.
   */
  takeOver(onInput: (text: string) => Promise<void>, onResize: () => void): () => void;
  /** Settles when it was taken. */
  write(text: string): Promise<void>;
}

/** The terminal of this process. */
export function openScreen(input: ReadStream, output: WriteStream): Screen {
  return {
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
    takeOver(onInput, onResize) {
      const take = (text: string) => {
        input.pause();
        onInput(text).then(
          () => input.resume(),
          () => input.resume(),
        );
      };
      input.setRawMode(true);
      input.setEncoding('utf8').on('data', take).resume();
      output.on('resize', onResize);
      return () => {
        input.off('data', take).pause();
        output.off('resize', onResize);
        input.setRawMode(false);
        output.write(plain);
      };
    },
    write: (text) =>
      new Promise((resolve) => {
        output.write(text, () => resolve());
      }),
  };
}

/** Ends what a program may have left on: colours, another screen, a hidden cursor, reports of mouse and paste. */
const plain =
  '\u001b[0m\u001b[?1049l\u001b[?25h\u001b[?1l\u001b[?9l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?2004l';
