// No object of the card reaches a printer of the host.
// source: https://github.com/patriksimek/vm2/issues/533
// expect: returns 1
// log: {"shown":1}
export default () => {
  const inspect = Symbol.for('nodejs.util.inspect.custom');
  console.log({ [inspect]: () => { throw new Error('called'); }, shown: 1 });
  return { out: 1 };
};
