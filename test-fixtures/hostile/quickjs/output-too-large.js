// More than the card may return.
// expect: output-too-large
export default () => {
  return { out: 'x'.repeat(3e6) };
};
