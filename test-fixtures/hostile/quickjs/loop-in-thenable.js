// The result is awaited, and it is a thenable.
// expect: timeout
export default () => {
  return { then() { while (true) {} } };
};
