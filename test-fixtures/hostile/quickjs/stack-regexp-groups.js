// The pattern goes deep.
// expect: exception | stack
export default () => {
  new RegExp('('.repeat(1e5) + ')'.repeat(1e5));
};
