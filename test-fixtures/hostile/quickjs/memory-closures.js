// Closures that keep each other.
// expect: memory
export default () => {
  let last = null;
  while (true) {
    const before = last;
    last = () => before;
  }
};
