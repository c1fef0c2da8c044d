// An array in itself, made flat.
// expect: stack | memory
export default () => {
  const list = [];
  list.push(list);
  list.flat(Infinity);
};
