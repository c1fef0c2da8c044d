// JSON carries no functions.
// expect: bad-output
export default () => {
  return { out: () => 1 };
};
