// Native work in a loop of JavaScript.
// expect: timeout
export default () => {
  while (true) Date.parse('2012-01-01T00:00:00Z');
};
