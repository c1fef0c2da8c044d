// Buffers are not objects of the engine's heap.
// expect: memory
export default () => {
  const kept = [];
  while (true) kept.push(new ArrayBuffer(1 << 20));
};
