// A loop of the engine itself that no interrupt reaches.
// expect: killed
export default () => {
  'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b');
};
