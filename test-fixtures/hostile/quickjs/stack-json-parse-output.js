// The output is deep.
// expect: stack | exception | memory | timeout
export default () => {
  let deep = [];
  for (let index = 0; index < 300_000; index++) deep = [deep];
  return { out: deep };
};
