// Every element is slow.
// expect: timeout | memory
export default () => {
  const list = {};
  for (let index = 0; index < 1e6; index++)
    Object.defineProperty(list, index, { configurable: true, get: () => { for (let n = 0; n < 1e4; n++); return 1; } });
  list.length = 1e6;
  Array.prototype.sort.call(list);
};
