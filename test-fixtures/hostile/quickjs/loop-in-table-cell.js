// Writing a table reads the cells.
// expect: timeout
export default () => {
  return { out: [{ get a() { while (true) {} } }] };
};
