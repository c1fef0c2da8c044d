import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { createJobAuthority } from '../../../remote-agent/src/vault/jobAuthority.ts';

const now = Date.UTC(2026, 10, 30, 7);

/** The first certificate of a chain. */
function leafOf(pem: string): X509Certificate {
  return new X509Certificate(pem);
}

describe('the authority of a job', () => {
  it('signs for one name each, and for nothing else', () => {
    const authority = createJobAuthority(now, 60_000);
    const root = new X509Certificate(authority.certificatePem);
    for (const name of ['api.example.org', '127.0.0.1', '::1', '2001:db8::ff00:42:8329', '::ffff:10.1.2.3']) {
      const { cert } = authority.issue(name);
      const leaf = leafOf(cert);
      const isAddress = /^[0-9.]+$|:/.test(name);
      assert.ok(leaf.checkIssued(root) && leaf.verify(root.publicKey), name);
      assert.equal(leaf.ca, false);
      assert.ok(
        isAddress ? leaf.checkIP(name) : leaf.checkHost(name),
        `${name}: ${leaf.subjectAltName ?? ''}`,
      );
      assert.equal(leaf.checkHost('evil.example.org'), undefined);
      assert.equal(leaf.checkIP('127.0.0.2'), undefined);
    }
    assert.equal(root.ca, true);
  });

  it('is not the authority of another job', () => {
    const [one, two] = [createJobAuthority(now, 60_000), createJobAuthority(now, 60_000)];
    const other = new X509Certificate(two.certificatePem);
    assert.equal(leafOf(one.issue('api.example.org').cert).verify(other.publicKey), false);
  });

  it('is valid for the time of its job, also beyond 2049', () => {
    const day = 86_400_000;
    for (const start of [now, Date.UTC(2049, 11, 31, 23, 59)]) {
      const root = new X509Certificate(createJobAuthority(start, day).certificatePem);
      assert.equal(root.validFromDate.getTime(), start - 3_600_000);
      assert.equal(root.validToDate.getTime(), start + day);
    }
  });
});
