// Out of memory while the engine checks a trap.
// expect: memory | exception
export default () => {
  Reflect.ownKeys(new Proxy({}, { ownKeys: () => { const kept = []; while (true) kept.push(String(Math.random())); } }));
};
