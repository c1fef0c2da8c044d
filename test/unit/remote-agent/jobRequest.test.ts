import assert from 'node:assert/strict';
import { chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { socketProfile } from '../../../remote-agent/src/isolation/bubblewrapSandboxes.ts';
import { sandboxRequest } from '../../../remote-agent/src/jobRequest.ts';
import { jobWith } from '../../support/jobs.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

describe('what a job’s access means for its sandbox', () => {
  const folder = useTemporaryFolder();
  const request = (shared: string, name = 'data', write = false) =>
    sandboxRequest(
      jobWith({ access: { network: { kind: 'none' }, hostFolders: [{ path: shared, name, write }] } }),
      [path.join(folder(), 'own', 'blobs')],
    );
  const isUnsafe = (error: unknown) => error instanceof UserError && error.code === 'unsafe-path';

  it('[JOB-11] is a mount for each granted folder, and the project read-only', () => {
    const access = {
      network: { kind: 'none' } as const,
      hostFolders: [{ path: folder(), name: 'data', write: false }],
      projectRoot: folder(),
    };
    assert.deepEqual(sandboxRequest(jobWith({ access }), []).mounts, [
      { path: folder(), target: '/host/data', write: false },
      { path: folder(), target: '/project', write: false },
    ]);
  });

  it('[PSH-01] covers named parts of the project, and takes no name that leads elsewhere', () => {
    const withHidden = (hidden: string, projectRoot: string | undefined = folder()) => {
      const access = {
        network: { kind: 'none' } as const,
        hostFolders: [],
        ...(projectRoot === '' ? {} : { projectRoot }),
        projectHidden: [{ path: hidden, kind: 'directory' as const }],
      };
      return sandboxRequest(jobWith({ access }), []);
    };
    assert.deepEqual(withHidden('sub/.git').masks, [{ target: '/project/sub/.git', kind: 'directory' }]);
    for (const bad of ['', '..', '../etc', '/etc', 'a//b', 'a/../..', 'a/./b', 'a\0'])
      assert.throws(() => withHidden(bad), isUnsafe, bad);
    assert.throws(() => withHidden('.git', ''), isUnsafe);
  });

  it('[JOB-11] is a refusal for anything but a plain folder of a plain path', () => {
    mkdirSync(path.join(folder(), 'real'));
    symlinkSync('real', path.join(folder(), 'link'));
    writeFileSync(path.join(folder(), 'file'), '');
    for (const bad of ['real', 'relative', `${folder()}/real/../real`, '.', '']) {
      assert.throws(() => request(bad), isUnsafe, bad);
    }
    for (const bad of ['link', 'file', 'missing']) {
      assert.throws(() => request(path.join(folder(), bad)), isUnsafe, bad);
    }
    assert.equal(request(path.join(folder(), 'real')).mounts.length, 1);
  });

  it('[JOB-11] is a refusal for what Sallyport keeps for itself, for what holds it and for what is in it', () => {
    mkdirSync(path.join(folder(), 'own/blobs/00'), { recursive: true });
    mkdirSync(path.join(folder(), 'own-not'));
    for (const bad of ['', 'own', 'own/blobs', 'own/blobs/00']) {
      assert.throws(() => request(path.join(folder(), bad)), isUnsafe, bad);
    }
    assert.throws(() => request('/'), isUnsafe);
    assert.equal(request(path.join(folder(), 'own-not')).mounts.length, 1);
  });

  it('[VM-11] acts in shared folders as whom the machine is told, and as nobody’s where it is shown none', () => {
    const user = { uid: 1000, gid: 1000 };
    const access = {
      network: { kind: 'none' } as const,
      hostFolders: [{ path: folder(), name: 'a', write: false }],
    };
    assert.deepEqual(sandboxRequest(jobWith({ access }), [], user).user, user);
    assert.equal(sandboxRequest(jobWith({}), [], user).user, undefined);
    assert.equal(sandboxRequest(jobWith({ access }), []).user, undefined);
  });

  it('[JOB-11] is a refusal for a name that leads elsewhere', () => {
    for (const name of ['../etc', 'a/b', '', '.', 'A'])
      assert.throws(() => request(folder(), name), isUnsafe, name);
  });

  it('[JOB-09] has a root runner’s card write as the owner of the folder, never as root', function () {
    if (process.getuid?.() !== 0) {
      console.log('      needs root');
      this.skip();
    }
    const shared = path.join(folder(), 'shared');
    mkdirSync(shared);
    assert.throws(() => request(shared, 'data', true), isUnsafe);
    assert.equal(request(shared).user, undefined);
    chownSync(shared, 4321, 1234);
    assert.deepEqual(request(shared, 'data', true).user, { uid: 4321, gid: 1234 });
  });

  const mount = { path: '/x', target: '/host/x', write: false };
  for (const [network, mounts, expected] of [
    ['none', [], 'local'],
    ['none', [mount], 'closed'],
    ['bridge', [], 'bridge'],
    ['bridge', [mount], 'ip'],
    ['all', [], 'ip'],
    ['all', [mount], 'ip'],
  ] as const) {
    it(`[JOB-02] opens the sockets ${expected} for the network ${network} and ${mounts.length} folders`, () => {
      assert.equal(socketProfile({ network, mounts }), expected);
    });
  }
});
