// What comes after an interrupted job runs on borrowed time.
// expect: timeout
export default async () => {
  await Promise.resolve().then(() => { while (true) {} }).catch(() => { while (true) {} });
  while (true) {}
};
