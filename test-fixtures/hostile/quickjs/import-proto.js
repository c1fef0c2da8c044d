// A name that every object has.
// expect: returns "refused"
export default async () => {
  try {
    await import('./__proto__');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
