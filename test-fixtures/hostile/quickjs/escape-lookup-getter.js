// The accessor of __proto__ and a function that gives handles.
// source: https://github.com/patriksimek/vm2/issues/184
// expect: returns "undefined undefined"
export default () => {
  const getPrototype = {}.__lookupGetter__('__proto__');
  const top = getPrototype.call(getPrototype.call(sallyport.log));
  return { out: `${typeof setTimeout} ${top.constructor.constructor('return typeof process')()}` };
};
