// Imports that are refused, for ever.
// expect: timeout | memory
export default async () => {
  for (let index = 0; ; index++) await import(`./${'x'.repeat(1000)}${index}.js`).catch(() => {});
};
