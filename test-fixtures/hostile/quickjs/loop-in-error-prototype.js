// So does asking what kind of error it is.
// expect: timeout
export default () => {
  throw new Proxy({}, { getPrototypeOf() { while (true) {} } });
};
