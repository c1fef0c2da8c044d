// A large script is parsed or refused.
// source: https://github.com/justjake/quickjs-emscripten/issues/30
// expect: returns 1 | memory
export default () => {
  eval('1;'.repeat(600_000));
  return { out: 1 };
};
