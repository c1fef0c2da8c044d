// An error made by the host has no way to the host's realm.
// source: https://www.figma.com/blog/an-update-on-plugin-security/
// expect: returns "undefined Function:true"
export default async () => {
  try {
    await import('./missing.js');
  } catch (error) {
    const found = [];
    for (let at = error; at; at = Object.getPrototypeOf(at)) found.push(at.constructor.constructor('return typeof process')());
    return { out: `${[...new Set(found)].join()} Function:${error.constructor.constructor === Function}` };
  }
};
