import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { createSentinel, readToSentinel } from '../../../../language-server/src/runners/ssh/sentinel.ts';

describe('the line that ends the noise of a shell', () => {
  const started = (isLost = false) => {
    const stream = new PassThrough();
    return { stream, errors: () => 'and so on', isLost: () => isLost };
  };

  it('is found in single bytes, and what follows stays in the stream [K11]', async () => {
    const sentinel = createSentinel();
    const program = started();
    const line = readToSentinel(program, sentinel);
    for (const byte of Buffer.from(`hello\n${sentinel}\n${sentinel} what\nrest`))
      program.stream.write(Buffer.of(byte));
    assert.equal(await line, 'what');
    program.stream.end();
    assert.equal((await program.stream.toArray()).join(''), 'rest');
  });

  for (const [title, isLost, code] of [
    ['a shell that ended is said to have, with what it printed', false, 'incompatible'],
    ['a connection that ended says nothing about the shell: trying again may help', true, 'closed'],
  ] as const) {
    it(`${title} [K12]`, async () => {
      const program = started(isLost);
      const line = readToSentinel(program, createSentinel());
      program.stream.end('no more\n');
      await assert.rejects(line, { code });
    });
  }
});
