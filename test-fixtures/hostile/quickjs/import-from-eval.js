// Code made at run time has no folder.
// expect: returns ["refused", "refused"]
export default async () => {
  const attempts = [() => new Function("return import('node:fs')")(), () => (0, eval)("import('/etc/passwd')")];
  const out = [];
  for (const attempt of attempts)
    out.push(await attempt().then(() => 'loaded', (error) => (/^Cannot import /.test(error.message) ? 'refused' : error.message)));
  return { out };
};
