// A path out of the folder.
// expect: returns "refused"
export default async () => {
  try {
    await import('../../../../etc/passwd');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
