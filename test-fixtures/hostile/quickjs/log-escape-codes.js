// Control characters are data; who shows them escapes them.
// expect: returns 1
// log: \u001b[2Jgone
export default () => {
  console.log('\u001b[2Jgone');
  return { out: 1 };
};
