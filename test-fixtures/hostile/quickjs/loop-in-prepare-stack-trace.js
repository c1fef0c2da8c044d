// An engine may call Error.prepareStackTrace.
// expect: timeout | exception
export default () => {
  Error.prepareStackTrace = () => { while (true) {} };
  throw new Error();
};
