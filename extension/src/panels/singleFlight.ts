/**
 * Runs `work` now, or once more after it if it is running: many events in a row cost two rounds, and the last one is
 * never missed.
 */
export function singleFlight(work: () => Promise<void>): () => void {
  let running = false;
  let again = false;
  const run = async (): Promise<void> => {
    running = true;
    do {
      again = false;
      await work();
    } while (again as boolean);
    running = false;
  };
  return () => {
    if (running) again = true;
    else void run();
  };
}
