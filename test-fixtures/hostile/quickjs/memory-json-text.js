// A text that is nothing but quotation marks.
// expect: memory | exception
export default () => {
  let text = '"';
  while (true) text = JSON.stringify(text);
};
