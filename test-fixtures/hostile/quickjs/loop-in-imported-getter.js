// The default export is a getter of a namespace that is slow.
// expect: timeout
export default new Proxy(() => ({}), { apply() { while (true) {} } });
