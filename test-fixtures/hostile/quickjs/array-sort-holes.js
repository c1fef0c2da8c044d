// A loop of the engine itself that no interrupt reaches.
// expect: killed
export default () => {
  const list = [];
  list.length = 2 ** 32 - 1;
  list[2 ** 32 - 2] = 1;
  list.sort();
};
