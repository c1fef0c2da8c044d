// Registered symbols are never freed.
// expect: timeout | memory
export default () => {
  for (let index = 0; ; index++) Symbol.for('s'.repeat(100) + index);
};
