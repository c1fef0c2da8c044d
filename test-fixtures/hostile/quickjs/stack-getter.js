// A getter that reads itself.
// expect: stack
export default () => {
  const object = { get again() { return this.again; } };
  object.again;
};
