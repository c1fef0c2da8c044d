// Running out of stack is an error like any other.
// source: https://github.com/justjake/quickjs-emscripten/issues/60
// expect: returns "RangeError"
export default () => {
  try {
    (function again() {
      again();
    })();
  } catch (error) {
    return { out: error.name };
  }
};
