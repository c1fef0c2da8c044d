// A text that is deep.
// expect: stack | exception
export default () => {
  JSON.parse('['.repeat(1e6));
};
