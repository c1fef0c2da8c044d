// The card waits for ever: nothing is left to run.
// expect: exception
export default () => new Promise(() => {});
