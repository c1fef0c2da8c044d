import assert from 'node:assert/strict';
import { licencesOf, parsePackageFile } from '../../../../language-server/src/runners/vm/vmPackages.ts';

describe('packages of a VM', () => {
  it('reads name and version from a file’s name, and takes nothing else for a package', () => {
    assert.deepEqual(parsePackageFile('libpam0g_1.5.2-6%2bdeb12u3_amd64.deb'), {
      name: 'libpam0g',
      version: '1.5.2-6+deb12u3',
    });
    assert.deepEqual(parsePackageFile('libc6_1%3a2.36-9_amd64.deb'), { name: 'libc6', version: '1:2.36-9' });
    for (const file of [
      'partial',
      'lock',
      'x.deb',
      'a_1_amd64.deb.part',
      '../a_1_amd64.deb',
      'a_%zz_all.deb',
    ])
      assert.equal(parsePackageFile(file), undefined, file);
  });

  it('names licences only where the copyright file is in the form that says them', () => {
    const dep5 =
      'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: GPL-2+\n\nFiles: debian/*\nLicense: MIT\n text\n\nLicense: GPL-2+\n long text\n';
    assert.deepEqual(licencesOf(dep5), ['GPL-2+', 'MIT']);
    assert.deepEqual(licencesOf('This is free software.\nLicense: whatever it says\n'), []);
  });
});
