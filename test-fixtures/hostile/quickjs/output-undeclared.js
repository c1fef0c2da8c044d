// A port that the card does not have.
// expect: bad-output
export default () => {
  return { other: 1 };
};
