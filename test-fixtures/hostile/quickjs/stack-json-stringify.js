// An object that is deep.
// expect: stack | memory | timeout
export default () => {
  let deep = {};
  for (let index = 0; index < 300_000; index++) deep = { deep };
  JSON.stringify(deep);
};
