// The same for an error of a host function.
// expect: returns "undefined"
export default () => {
  try {
    sallyport.text('missing');
  } catch (error) {
    return { out: error.constructor.constructor('return typeof process')() };
  }
};
