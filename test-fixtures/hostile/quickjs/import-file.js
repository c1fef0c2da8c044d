// A file URL.
// expect: returns "refused"
export default async () => {
  try {
    await import('file:///etc/passwd');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
