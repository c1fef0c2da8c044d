// A map that grows.
// expect: memory
export default () => {
  const kept = new Map();
  for (let index = 0; ; index++) kept.set({}, [index]);
};
