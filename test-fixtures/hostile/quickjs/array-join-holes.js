// A loop of the engine itself that no interrupt reaches.
// expect: killed
export default () => {
  new Array(1e9).join('');
};
