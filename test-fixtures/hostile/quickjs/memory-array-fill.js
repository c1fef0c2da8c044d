// An array filled to its longest.
// expect: memory | exception
export default () => {
  new Array(2 ** 32 - 1).fill(0);
};
