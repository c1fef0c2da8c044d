// A function that calls itself.
// source: https://github.com/quickjs-ng/quickjs/issues/1462
// expect: stack
export default () => {
  (function again() {
    again();
  })();
};
