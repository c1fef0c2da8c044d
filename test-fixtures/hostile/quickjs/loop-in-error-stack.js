// So does reading a stack.
// expect: timeout
export default () => {
  const error = new Error('x');
  Object.defineProperty(error, 'stack', { get() { while (true) {} } });
  throw error;
};
