// A promise whose species is ours, given to the awaiting side.
// source: https://github.com/advisories/GHSA-cchq-frgv-rjh5
// expect: returns "undefined"
export default () => {
  const seen = [];
  class Mine extends Promise {
    static get [Symbol.species]() {
      return function (executor) {
        executor((value) => seen.push(value), (error) => seen.push(error));
        seen.push(executor.constructor.constructor('return typeof process')());
      };
    }
  }
  Promise.prototype.constructor = Mine;
  const promise = new Mine((resolve) => resolve(1));
  promise.then(() => {}).catch;
  return { out: seen.find((value) => typeof value === 'string') };
};
