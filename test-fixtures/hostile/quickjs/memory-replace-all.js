// Each match grows the result.
// expect: memory | timeout | killed
export default () => {
  let text = 'a'.repeat(1e5);
  while (true) text = text.replaceAll('a', 'aa');
};
