// The normal form is longer than the text.
// expect: memory | exception
export default () => {
  let text = '\ufdfa'.repeat(1e6);
  while (true) text += text.normalize('NFKD');
};
