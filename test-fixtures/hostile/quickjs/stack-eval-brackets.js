// The parser goes deep.
// expect: exception | stack
export default () => {
  eval('['.repeat(1e5) + ']'.repeat(1e5));
};
