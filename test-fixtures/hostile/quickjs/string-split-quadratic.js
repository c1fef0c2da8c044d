// A loop of the engine itself that no interrupt reaches.
// expect: killed
export default () => {
  'a'.repeat(4e6).split('a'.repeat(2e6) + 'b');
};
