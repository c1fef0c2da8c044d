// A pattern that compiles to more than there is.
// expect: memory | exception | timeout | killed | returns 1
export default () => {
  new RegExp('(?:'.repeat(20) + 'a' + '){1000}'.repeat(20));
  return { out: 1 };
};
