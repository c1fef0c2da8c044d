// Keys are atoms, which live until the end.
// expect: memory
export default () => {
  const kept = {};
  for (let index = 0; ; index++) kept['key' + index] = index;
};
