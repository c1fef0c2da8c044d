// A key called __proto__ stays a key of the text.
// expect: returns {"__proto__": {"polluted": true}}
export default () => {
  return { out: JSON.parse('{"__proto__": {"polluted": true}}') };
};
