// The parser goes deep.
// expect: exception | stack
export default () => {
  eval('(()=>'.repeat(5e4) + '1' + ')'.repeat(5e4));
};
