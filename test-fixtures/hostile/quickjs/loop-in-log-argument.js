// Printing runs the card's own code.
// expect: timeout
export default () => {
  console.log({ toJSON() { while (true) {} } });
};
