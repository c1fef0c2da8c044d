// A loop of the engine itself that no interrupt reaches.
// expect: killed
export default () => {
  Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);
};
