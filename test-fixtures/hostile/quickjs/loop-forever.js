// The plainest loop.
// expect: timeout
export default () => {
  while (true) {}
};
