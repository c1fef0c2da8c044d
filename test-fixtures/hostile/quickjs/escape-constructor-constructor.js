// The function constructor of a host's function.
// expect: returns "undefined"
export default () => {
  return { out: sallyport.log.constructor.constructor('return typeof process')() };
};
