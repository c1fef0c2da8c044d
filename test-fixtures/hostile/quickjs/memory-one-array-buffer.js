// One buffer larger than everything.
// expect: memory | exception
export default () => {
  return { out: new ArrayBuffer(1.5e9).byteLength };
};
