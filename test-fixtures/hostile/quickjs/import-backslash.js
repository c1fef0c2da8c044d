// Backslashes.
// expect: returns "refused"
export default async () => {
  try {
    await import('.\\..\\secret.js');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
