// A proxy of a proxy of a proxy.
// expect: stack | exception
export default () => {
  let target = {};
  for (let index = 0; index < 200_000; index++) target = new Proxy(target, {});
  target.missing;
};
