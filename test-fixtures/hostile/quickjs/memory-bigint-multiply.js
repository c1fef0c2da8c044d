// Two long numbers.
// expect: memory | exception | timeout | killed
export default () => {
  let value = 3n ** 100000n;
  while (true) value = value * value;
};
