// The interrupt itself finds no memory to throw with, and what it throws instead is caught.
// expect: killed
export default () => {
  while (true) {
    try {
      const kept = [];
      while (true) kept.push('x'.repeat(1 << 20) + kept.length);
    } catch {}
  }
};
