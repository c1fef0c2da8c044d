// A module of QuickJS itself.
// expect: returns "refused"
export default async () => {
  try {
    await import('std');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
