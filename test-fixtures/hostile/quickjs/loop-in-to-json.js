// Writing an output runs toJSON.
// expect: timeout
export default () => {
  return { out: { toJSON() { while (true) {} } } };
};
