// The parser goes deep.
// expect: exception | stack
export default () => {
  eval('('.repeat(1e6));
};
