// A number too long to be.
// expect: memory | exception
export default () => {
  return { out: String(2n ** (2n ** 27n)).length };
};
