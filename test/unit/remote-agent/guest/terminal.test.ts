import assert from 'node:assert/strict';
import ssh2 from 'ssh2';
import { terminalArguments, terminalShell } from '../../../../remote-agent/src/guest/terminalArguments.ts';
import { authorizedKey, createHostKey } from '../../../../remote-agent/src/guest/terminalKeys.ts';

describe('the SSH server of a terminal', () => {
  const words = terminalArguments({ keys: '/keys', runner: '/var/lib/sallyport', jobs: '/scratch/jobs' });
  const text = words.join(' ');

  it('[VM-22] is in a sandbox that covers the runner’s folder and holds one right', () => {
    assert.match(text, /--ro-bind \/ \/ --dev \/dev/);
    assert.match(
      text,
      /--tmpfs \/var\/lib\/sallyport --remount-ro \/var\/lib\/sallyport --ro-bind \/scratch\/jobs \/jobs/,
    );
    assert.match(text, /--tmpfs \/run --ro-bind \/keys \/keys --remount-ro \/run/);
    assert.match(text, /--cap-drop ALL --cap-add CAP_DAC_READ_SEARCH --die-with-parent/);
    assert.equal(words.filter((word) => word === '--cap-add').length, 1);
    assert.match(text, /--unshare-net/);
    assert.equal(words.includes('--bind'), false);
    // What covers comes after what it covers.
    assert.ok(text.indexOf('--ro-bind / /') < text.indexOf('--tmpfs /var/lib/sallyport'));
  });

  it('[VM-23] takes no password and no root, and forwards nothing', () => {
    const [server = ''] = /\/usr\/sbin\/dropbear .*$/.exec(text) ?? [];
    for (const option of ['-s', '-w', '-j', '-k', '-i'])
      assert.ok(server.split(' ').includes(option), option);
    const line = authorizedKey(Buffer.alloc(32, 1).toString('base64'), terminalShell);
    assert.match(
      line,
      /^command="exec \/bin\/bash [^"]*",no-port-forwarding,no-agent-forwarding,no-X11-forwarding ssh-ed25519 \S+\n$/,
    );
  });

  it('shows no jobs where there are none', () => {
    assert.equal(terminalArguments({ keys: '/k', runner: '/r', jobs: undefined }).includes('/jobs'), false);
  });

  it('writes keys as others read them', () => {
    const raw = Buffer.alloc(32, 9);
    const parsed = ssh2.utils.parseKey(
      authorizedKey(raw.toString('base64'), 'x').replace(/^.*? (?=ssh-)/, ''),
    );
    assert.ok(!(parsed instanceof Error));
    assert.equal(parsed.type, 'ssh-ed25519');
    assert.deepEqual(parsed.getPublicSSH().subarray(-32), raw);
    const { file, publicKey } = createHostKey();
    assert.equal(file.toString('latin1', 4, 15), 'ssh-ed25519');
    assert.equal(file.length, 4 + 11 + 4 + 64);
    assert.equal(file.subarray(-32).toString('base64'), publicKey);
    assert.notEqual(createHostKey().publicKey, publicKey);
  });

  const bad = ['', 'AAAA', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64')];
  for (const key of bad)
    it(`throws for ${JSON.stringify(key)} in place of a key`, () => {
      assert.throws(() => authorizedKey(key, 'x'));
    });
  for (const shell of ['a"b', 'a\nb', 'a\\b'])
    it(`throws for a shell that would leave its quotes: ${JSON.stringify(shell)}`, () => {
      assert.throws(() => authorizedKey(Buffer.alloc(32).toString('base64'), shell));
    });
});
