// A function bound again and again.
// expect: memory | stack
export default () => {
  let next = () => 1;
  while (true) next = next.bind(null);
};
