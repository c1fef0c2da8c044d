// A module of Node.
// expect: returns "refused"
export default async () => {
  try {
    await import('node:fs');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
