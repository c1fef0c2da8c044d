import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { createSentinel, readToSentinel } from '../../../../language-server/src/runners/ssh/sentinel.ts';

describe('the line that ends the noise of a shell', () => {
  const started = (isLost = false, hostAnswers = () => Promise.resolve()) => {
    const stream = new PassThrough();
    return { stream, errors: () => 'and so on', isLost: () => isLost, hostAnswers };
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

  it('is found behind a megabyte of noise, and noise without an end is refused [K11]', async () => {
    const sentinel = createSentinel();
    const program = started();
    const line = readToSentinel(program, sentinel);
    const noise = Buffer.alloc(1024, 'noise ');
    for (let kilobytes = 0; kilobytes < 1000; kilobytes += 1) program.stream.write(noise);
    program.stream.write(`\n${sentinel} what\n`);
    assert.equal(await line, 'what');
    for (const before of ['', `\n${createSentinel()} `, `\n${sentinel} `]) {
      const endless = started();
      const refused = readToSentinel(endless, sentinel);
      endless.stream.write(before);
      for (let kilobytes = 0; kilobytes < 1100; kilobytes += 1) endless.stream.write(noise);
      await assert.rejects(refused, { code: 'incompatible', message: /prints without an end/ });
    }
  });

  describe('where it does not come', () => {
    const silence = () => new Promise<void>(() => undefined);
    const limitMs = 60;

    it('a host that answers has a shell that does not run what it is told to [K12]', async () => {
      const program = started();
      program.stream.write('what shell is this\n');
      await assert.rejects(readToSentinel(program, createSentinel(), limitMs), {
        code: 'incompatible',
        message: /does not run what it is told to.*\nwhat shell is this/s,
      });
    });

    it('a host that is frozen longer than the shell may take is waited for: that time does not count [K08]', async () => {
      const thawed = Promise.withResolvers<undefined>();
      const asked = { times: 0 };
      const sentinel = createSentinel();
      const program = started(false, async () => {
        asked.times += 1;
        // Longer than all that a shell may take.
        if (asked.times > 8) thawed.resolve(undefined);
        await thawed.promise;
      });
      const line = readToSentinel(program, sentinel, limitMs);
      await thawed.promise;
      program.stream.write(`\n${sentinel} what\n`);
      assert.equal(await line, 'what');
    });

    it('a host that stays frozen is lost: trying again may help [K08]', async () => {
      const program = started(false, silence);
      await assert.rejects(readToSentinel(program, createSentinel(), limitMs), { code: 'closed' });
    });
  });
});
