// A data URL.
// expect: returns "refused"
export default async () => {
  try {
    await import('data:text/javascript,export default 1');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
