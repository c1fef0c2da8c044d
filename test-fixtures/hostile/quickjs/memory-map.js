// A map that grows.
// expect: timeout | memory
export default () => {
  const kept = new Map();
  for (let index = 0; ; index++) kept.set({}, [index]);
};
