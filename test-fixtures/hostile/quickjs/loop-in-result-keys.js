// Listing the outputs runs a trap.
// expect: timeout
export default () => {
  return new Proxy({}, { ownKeys() { while (true) {} } });
};
