// Interrupts can neither be caught nor put off.
// expect: timeout
export default () => {
  while (true) {
    try {
      while (true) {}
    } catch {
    } finally {
      for (;;) {}
    }
  }
};
