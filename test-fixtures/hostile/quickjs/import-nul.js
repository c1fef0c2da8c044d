// A NUL in the name.
// expect: returns "loaded" | returns "refused"
export default async () => {
  try {
    await import('./main.js\0.txt');
    return { out: 'loaded' };
  } catch (error) {
    return { out: /^Cannot import /.test(error.message) ? 'refused' : error.message };
  }
};
