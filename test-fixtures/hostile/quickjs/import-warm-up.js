// The module that warmed the instance up.
// expect: returns "refused"
export default async () => {
  try {
    await import('./sallyport/warm-up');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
