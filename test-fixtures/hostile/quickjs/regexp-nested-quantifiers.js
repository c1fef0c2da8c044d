// Many ways to match nothing.
// expect: timeout
export default () => {
  /(?:(?:a?){1000}){1000}b/.test('a'.repeat(1000));
};
