// Many small lines become few messages.
// expect: timeout
// log: cut
export default () => {
  while (true) console.log();
};
