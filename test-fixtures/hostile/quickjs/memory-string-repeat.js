// One string larger than everything.
// expect: memory
export default () => {
  return { out: 'x'.repeat(2 ** 29).length };
};
