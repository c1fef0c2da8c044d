// The clean-up of a generator runs when its loop is left.
// expect: timeout
export default () => {
  function* endless() {
    try {
      yield 1;
    } finally {
      while (true) {}
    }
  }
  for (const _ of endless()) break;
};
