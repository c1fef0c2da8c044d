// The engine's own limit does not count these.
// source: https://github.com/justjake/quickjs-emscripten/issues/255
// expect: memory
export default () => {
  const kept = [];
  while (true) kept.push('x'.repeat(1 << 20) + kept.length);
};
