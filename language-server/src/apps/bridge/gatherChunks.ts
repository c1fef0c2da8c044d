/** Pieces of a text, joined so that few messages are sent: at most thirty in a second. */
export function gatherChunks(
  send: (text: string) => void,
  setTimer: (run: () => void, ms: number) => () => void,
): { readonly add: (piece: string) => void; readonly flush: () => void } {
  let waiting = '';
  let stop: (() => void) | undefined;
  const flush = () => {
    stop?.();
    stop = undefined;
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    send(text);
  };
  return {
    add: (piece) => {
      waiting += piece;
      stop ??= setTimer(flush, 1000 / 30);
    },
    flush,
  };
}
