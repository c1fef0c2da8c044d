// The loop is in the module itself.
// expect: timeout
while (true) {}
export default () => ({});
