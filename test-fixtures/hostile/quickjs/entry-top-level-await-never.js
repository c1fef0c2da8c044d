// The module waits for ever.
// expect: exception
await new Promise(() => {});
export default () => ({});
