// Jobs that make jobs: the queue is never empty.
// expect: timeout | memory
export default () => {
  const next = () => Promise.resolve().then(next);
  next();
  return new Promise(() => {});
};
