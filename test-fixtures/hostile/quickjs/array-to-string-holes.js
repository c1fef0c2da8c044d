// A loop of the engine itself that no interrupt reaches.
// source: https://github.com/justjake/quickjs-emscripten/issues/219
// expect: killed
export default () => {
  return { out: (new Array(1_000_000_000) + '').length };
};
