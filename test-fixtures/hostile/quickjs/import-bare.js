// A bare name.
// expect: returns "refused"
export default async () => {
  try {
    await import('fs');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
