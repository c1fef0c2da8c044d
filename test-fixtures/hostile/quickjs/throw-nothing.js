// Throwing undefined is a failure too.
// expect: exception
export default () => {
  throw undefined;
};
