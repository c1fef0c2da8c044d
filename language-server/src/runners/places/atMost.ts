/** Settles when the work has, whatever came of it, or after so long: the work goes on then. */
export function atMost(
  work: Promise<unknown>,
  ms: number,
  setTimer: (run: () => void, ms: number) => () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const stopTimer = setTimer(resolve, ms);
    void work
      .catch(() => undefined)
      .then(() => {
        stopTimer();
        resolve();
      });
  });
}
