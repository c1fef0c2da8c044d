// The output is deep.
// expect: stack | bad-output | exception | memory
export default () => {
  let deep = [];
  for (let index = 0; index < 300_000; index++) deep = [deep];
  return { out: deep };
};
