// Exponential backtracking.
// expect: timeout
export default () => {
  /^(a+)+$/.test('a'.repeat(40) + 'b');
};
