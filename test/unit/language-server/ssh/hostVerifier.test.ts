import assert from 'node:assert/strict';
import { toHostVerifier } from '../../../../language-server/src/runners/ssh/hostVerifier.ts';

const key = Buffer.from('key');

/** What ssh2 would hear, and what the call itself returned: ssh2 takes anything but undefined and false for a yes. */
async function heard(decide: (key: Buffer) => unknown): Promise<{ answers: unknown[]; returned: unknown }> {
  const answers: unknown[] = [];
  const verifier = toHostVerifier(decide as never) as (...words: unknown[]) => unknown;
  const returned = verifier(key, (isTrusted: boolean) => answers.push(isTrusted));
  await new Promise((resolve) => setImmediate(resolve));
  return { answers, returned };
}

describe('the host verifier', () => {
  it('trusts for exactly one word [K01]', async () => {
    assert.deepEqual(await heard(async () => 'trusted'), { answers: [true], returned: undefined });
  });

  // Each of these connects when it is handed to ssh2 as its verifier's answer.
  const taken: readonly (readonly [string, (key: Buffer) => unknown])[] = [
    ['nothing', () => undefined],
    ['null', () => null],
    ['zero', () => 0],
    ['an empty string', () => ''],
    ['NaN', () => NaN],
    ['an error', () => new Error('no')],
    ['true', () => true],
    ['another word', () => 'yes'],
    ['the word in capitals', () => 'TRUSTED'],
    ['an object', () => ({ trusted: true })],
    ['a number', () => 42],
    ['a promise of false', async () => false],
    ['a promise of nothing', async () => undefined],
    ['a promise of true', async () => true],
    ['a rejection', async () => Promise.reject(new Error('no'))],
    [
      'a throw',
      () => {
        throw new Error('no');
      },
    ],
    ['an array with the word', () => ['trusted']],
  ];
  for (const [title, decide] of taken) {
    it(`refuses for ${title}, and returns nothing [K01]`, async () => {
      assert.deepEqual(await heard(decide), { answers: [false], returned: undefined });
    });
  }

  it('answers at once when the keys of the connection are changed: yes to the same key, no to another [K01]', async () => {
    let asked = 0;
    const verifier = toHostVerifier(async () => (asked++, 'trusted'));
    const shown = Buffer.from(key);
    await new Promise((resolve) => verifier(shown, resolve));
    shown.fill(0);
    const answers: boolean[] = [];
    verifier(key, (isTrusted) => answers.push(isTrusted));
    for (const other of [shown, Buffer.alloc(0), Buffer.from('key2')])
      verifier(other, (isTrusted) => answers.push(isTrusted));
    assert.deepEqual(answers, [true, false, false, false]);
    assert.equal(asked, 1);
  });

  it('asks again for a key that was refused [K01]', async () => {
    let answer = 'refused';
    const verifier = toHostVerifier(async () => answer);
    const hear = () => new Promise((resolve) => verifier(key, resolve));
    assert.equal(await hear(), false);
    answer = 'trusted';
    assert.equal(await hear(), true);
  });
});
