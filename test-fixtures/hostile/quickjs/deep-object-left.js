// A damaged or deep heap is never taken apart: the thread ends.
// expect: returns 1
export default () => {
  globalThis.chain = null;
  for (let index = 0; index < 200_000; index++) globalThis.chain = { chain: globalThis.chain };
  return { out: 1 };
};
