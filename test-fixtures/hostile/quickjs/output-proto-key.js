// The result has a port that is called __proto__.
// expect: bad-output
export default () => {
  return JSON.parse('{"__proto__": 1}');
};
