// Describing the error runs the card's own code.
// expect: timeout
export default () => {
  throw { get message() { while (true) {} }, toString() { while (true) {} }, toJSON() { while (true) {} } };
};
