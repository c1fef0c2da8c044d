// The way out of node:vm.
// source: https://github.com/OneUptime/oneuptime/issues/2324
// expect: returns "undefined"
export default () => {
  return { out: globalThis.constructor.constructor('return typeof process')() };
};
