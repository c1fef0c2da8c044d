// An array that doubles.
// expect: memory
export default () => {
  let list = [1, 2, 3, 4];
  while (true) list = list.concat(list);
};
