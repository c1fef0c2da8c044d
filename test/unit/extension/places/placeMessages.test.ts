import { join } from 'node:path';
import { placeWords } from '../../../../extension/src/placeMessages.ts';
import { assertGolden } from '../../../support/golden.ts';

const key = { keyType: 'ssh-ed25519', fingerprint: 'SHA256:aaaa' };
const known = [{ keyType: 'ssh-rsa', fingerprint: 'SHA256:bbbb', where: '~/.ssh/known_hosts:3' }];

describe('texts around places', () => {
  it('are these [SSH-08]', () => {
    const lines = [
      placeWords.firstUse('ssh:lab', 'lab.test', 22),
      placeWords.firstUse('ssh:lab', 'lab\u202e.test', 2222),
      placeWords.firstUseDetail(key.keyType, key.fingerprint, []),
      placeWords.firstUseDetail(key.keyType, key.fingerprint, ['one.test', 'two.test']),
      placeWords.firstUseYes(),
      placeWords.changed('ssh:lab', 'lab.test', 22),
      placeWords.changedDetail(key, known, []),
      placeWords.changedDetail(key, known, ['one.test']),
      placeWords.secretTitle('ssh:lab', 'lab.test'),
      placeWords.passphraseTitle('ssh:lab'),
      placeWords.noChoice('lab'),
      placeWords.mendChoice(),
    ];
    assertGolden(join(import.meta.dirname, '../goldens/placeMessages.txt'), `${lines.join('\n---\n')}\n`);
  });
});
