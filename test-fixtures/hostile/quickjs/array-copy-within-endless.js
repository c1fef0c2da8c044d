// A loop of the engine itself that no interrupt reaches.
// expect: killed
export default () => {
  Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1);
};
