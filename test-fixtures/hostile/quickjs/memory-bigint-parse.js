// A number from a long text.
// expect: memory | exception | timeout | killed
export default () => {
  return { out: typeof BigInt('9'.repeat(5e6)) };
};
