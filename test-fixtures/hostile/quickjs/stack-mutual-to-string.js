// Two objects that describe each other.
// expect: stack
export default () => {
  const a = { toString: () => `${b}` };
  const b = { toString: () => `${a}` };
  String(a);
};
