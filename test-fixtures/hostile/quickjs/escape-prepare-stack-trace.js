// The frames given to prepareStackTrace hold no function of the host.
// expect: returns "undefined"
export default () => {
  Error.prepareStackTrace = (_error, frames) => frames;
  const frames = new Error().stack;
  let found = 'undefined';
  for (const frame of Array.isArray(frames) ? frames : [])
    for (const name of ['getThis', 'getFunction'])
      if (typeof frame[name] === 'function') {
        const value = frame[name]();
        if (value?.constructor?.constructor) found = value.constructor.constructor('return typeof process')();
      }
  return { out: found };
};
