// Freeing a long chain must not fall over.
// expect: returns 1
export default () => {
  let chain = null;
  for (let index = 0; index < 500_000; index++) chain = { chain };
  chain = null;
  return { out: 1 };
};
