// An error whose name is a symbol.
// source: https://github.com/patriksimek/vm2/pull/547
// expect: exception
export default () => {
  const error = new Error('x');
  error.name = Symbol();
  throw error;
};
