// The prelude keeps its own built-ins, so a card that breaks them breaks itself only.
// expect: returns "intact"
export default () => {
  const boom = () => { throw new Error('poisoned'); };
  JSON.stringify = boom;
  JSON.parse = boom;
  String.prototype.slice = boom;
  RegExp.prototype.exec = boom;
  Object.keys = boom;
  Function.prototype.call = boom;
  Function.prototype.apply = boom;
  Reflect.apply = boom;
  return { out: 'intact' };
};
