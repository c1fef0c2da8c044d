// There is no way to anything.
// expect: returns []
export default () => {
  const names = ['process', 'require', 'module', 'std', 'os', 'bjson', 'print', 'fetch', 'XMLHttpRequest', 'WebSocket',
    'setTimeout', 'setInterval', 'setImmediate', 'WebAssembly', 'Atomics', 'Worker', 'Deno', 'Bun', 'navigator', 'location',
    'global', 'window', 'self', 'Buffer', 'gc', 'load', 'scriptArgs', 'importScripts', 'send', 'receive'];
  return { out: names.filter((name) => typeof globalThis[name] !== 'undefined') };
};
