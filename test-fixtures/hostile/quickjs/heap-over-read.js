// A buffer shrinks while it is copied; what lay behind it must not be read.
// source: https://github.com/bellard/quickjs/issues/492
// expect: returns "nothing"
export default () => {
  const marker = 'TOPSECRET';
  for (let round = 0; round < 60; round++) {
    const buffer = new ArrayBuffer(4096, { maxByteLength: 8192 });
    const view = new Uint8Array(buffer);
    let copy;
    try {
      copy = view.with(0, { valueOf() { buffer.resize(8); return 1; } });
    } catch {
      continue;
    }
    let text = '';
    for (const byte of copy) text += String.fromCharCode(byte);
    if (text.includes(marker)) return { out: 'leaked' };
  }
  return { out: 'nothing' };
};
