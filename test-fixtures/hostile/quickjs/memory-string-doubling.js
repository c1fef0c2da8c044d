// A string that doubles until the engine says no.
// expect: memory | exception
export default () => {
  let text = 'x';
  while (true) text += text;
};
