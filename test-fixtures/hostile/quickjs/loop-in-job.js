// An interrupt inside of a promise job is swallowed by the engine: the clock counts.
// expect: timeout
export default () => Promise.resolve().then(() => {
  while (true) {}
});
