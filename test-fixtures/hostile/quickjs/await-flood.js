// An await in an endless loop.
// expect: timeout
export default async () => {
  while (true) await null;
};
