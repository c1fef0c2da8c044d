// queueMicrotask that queues itself.
// expect: timeout
export default () => {
  const next = () => queueMicrotask(next);
  next();
  return new Promise(() => {});
};
