// Log beyond the limit is counted and left out.
// expect: timeout
// log: cut
export default () => {
  while (true) console.log('x'.repeat(1000));
};
