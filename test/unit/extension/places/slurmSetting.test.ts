import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { slurmSetting } from '../../../../extension/src/places/slurmSetting.ts';

describe('the setting for clusters', () => {
  const setting = {
    lab: { partition: 'short', account: 'physics' },
    odd: { partition: '--wrap=x' },
    text: 'short',
  };

  it('names what is asked for by the login node, and nothing for another [SLURM-20]', () => {
    assert.deepEqual(slurmSetting(setting, 'slurm:lab'), { partition: 'short', account: 'physics' });
    for (const place of ['slurm:other', 'slurm:toString', 'slurm:__proto__'])
      assert.deepEqual(slurmSetting(setting, place), {});
  });

  it('is refused in words where it has no form [SLURM-20]', () => {
    for (const place of ['slurm:odd', 'slurm:text'])
      assert.throws(() => slurmSetting(setting, place), { code: 'bad-message', message: /sallyport.slurm/ });
  });

  it('is the person’s own: no workspace sets it [SLURM-20]', () => {
    const text = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8');
    const { contributes } = JSON.parse(text) as {
      contributes: { configuration: { properties: Record<string, { scope: string }> } };
    };
    assert.equal(contributes.configuration.properties['sallyport.slurm']?.scope, 'application');
  });
});
