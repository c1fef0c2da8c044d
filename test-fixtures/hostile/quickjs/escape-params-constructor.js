// What the host hands over is made inside.
// expect: returns "undefined"
export default () => {
  const reach = Object.getPrototypeOf(sallyport.params).constructor.constructor;
  return { out: reach('return typeof process')() };
};
