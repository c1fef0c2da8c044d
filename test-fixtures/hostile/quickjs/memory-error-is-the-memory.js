// The error that is thrown holds everything.
// expect: memory | exception
export default () => {
  const kept = [];
  try {
    while (true) kept.push('x'.repeat(1 << 16) + kept.length);
  } catch {
    throw Object.assign(new Error('full'), { kept, message: kept });
  }
};
