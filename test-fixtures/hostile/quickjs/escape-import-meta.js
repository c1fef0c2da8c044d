// A module learns nothing about where it lies.
// expect: returns []
export default () => {
  return { out: Object.keys(import.meta) };
};
