// An encoded path.
// expect: returns "refused"
export default async () => {
  try {
    await import('./%2e%2e/secret.js');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
