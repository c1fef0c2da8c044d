// Slow, but it ends.
// expect: returns null
export default () => {
  return { out: Number('1'.repeat(2e6)) };
};
