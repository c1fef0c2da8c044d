// Out of the folder by way of a folder.
// expect: returns "refused"
export default async () => {
  try {
    await import('./a/../../b.js');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
