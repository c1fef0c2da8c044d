// Promises that wait for each other.
// expect: memory
export default () => {
  let last = Promise.resolve();
  while (true) last = last.then(() => 1);
};
