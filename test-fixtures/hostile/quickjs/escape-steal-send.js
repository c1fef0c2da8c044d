// No built-in that a card replaces is handed the functions of the host.
// expect: returns []
const { apply } = Reflect;
const seen = [];
const isHost = (value) => typeof value === 'function' && (value.name === 'send' || value.name === 'receive');
const owners = [Function.prototype, Array.prototype, String.prototype, RegExp.prototype, Object.prototype, Promise.prototype];
for (const owner of [...owners, Promise, Object, JSON, Reflect])
  for (const key of ['call', 'apply', 'bind', 'toString', 'then', 'resolve', 'map', 'join', 'slice', 'exec', 'stringify', 'parse', 'keys']) {
    const kept = owner[key];
    if (typeof kept !== 'function') continue;
    owner[key] = function (...values) {
      if (isHost(this)) seen[seen.length] = key;
      for (let index = 0; index < values.length; index++) if (isHost(values[index])) seen[seen.length] = key;
      return apply(kept, this, values);
    };
  }
export default async () => {
  await null;
  console.log('printed', { a: 1 });
  return { out: seen };
};
