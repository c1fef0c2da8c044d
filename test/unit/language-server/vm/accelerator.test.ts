import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseAccelerator } from '../../../../language-server/src/runners/vm/accelerator.ts';

describe('chooseAccelerator', () => {
  let image = '';
  beforeEach(() => (image = mkdtempSync(join(tmpdir(), 'sallyport-kvm-'))));
  afterEach(() => rmSync(image, { recursive: true, force: true }));

  const choose = async (hasDevice: boolean, boots: () => Promise<boolean>, imageId = 'a') => {
    let asked = 0;
    const chosen = await chooseAccelerator({
      image,
      imageId,
      qemuVersion: '7.2',
      hasDevice: () => hasDevice,
      boots: () => {
        asked += 1;
        return boots();
      },
    });
    return [chosen, asked];
  };
  const yes = () => Promise.resolve(true);
  const no = () => Promise.resolve(false);
  const throws = () => Promise.reject(new Error('no'));

  it('[VM-03] a device that can be opened proves nothing: a VM has to boot', async () => {
    assert.deepEqual(await choose(false, yes), ['tcg', 0]);
    assert.deepEqual(await choose(true, no), ['tcg', 1]);
    rmSync(join(image, 'kvm.json'));
    assert.deepEqual(await choose(true, throws), ['tcg', 1]);
    rmSync(join(image, 'kvm.json'));
    assert.deepEqual(await choose(true, yes), ['kvm', 1]);
  });

  it('asks once for each image, and again where what is kept can’t be read', async () => {
    assert.deepEqual(await choose(true, yes), ['kvm', 1]);
    assert.deepEqual(await choose(true, no), ['kvm', 0]);
    assert.deepEqual(await choose(true, no, 'b'), ['tcg', 1]);
    writeFileSync(join(image, 'kvm.json'), '{"key": 1');
    assert.deepEqual(await choose(true, yes), ['kvm', 1]);
  });
});
