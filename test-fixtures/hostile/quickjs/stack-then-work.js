// After a deep fall the instance goes on.
// expect: returns "still here"
export default () => {
  for (let round = 0; round < 20; round++) {
    try {
      (function again() {
        again();
      })();
    } catch {}
  }
  return { out: 'still here' };
};
