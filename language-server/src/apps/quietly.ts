/** Does what may fail without failing what it belongs to: what goes wrong is told, and that is all. */
export function quietly(onProblem: (error: unknown) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    onProblem(error);
  }
}
