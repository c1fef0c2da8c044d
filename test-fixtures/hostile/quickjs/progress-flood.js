// Progress is thinned out.
// expect: timeout
export default () => {
  while (true) sallyport.progress(Math.random(), "x".repeat(1e4));
};
