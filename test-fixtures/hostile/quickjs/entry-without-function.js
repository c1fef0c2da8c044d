// The entry exports no function.
// expect: bad-entry
export default 1;
