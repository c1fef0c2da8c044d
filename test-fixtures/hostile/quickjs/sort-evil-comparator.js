// A comparator that never comes back.
// expect: timeout
export default () => {
  [3, 1, 2].sort(() => {
    while (true) {}
  });
};
