import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPlace, quickTimes } from '../../support/remotePlace.ts';
import { PlaceClient } from '../../support/placeClient.ts';
import { removeHost, SshHost } from '../../support/sshHost.ts';
import { hasSshd, sshParts } from '../../support/sshPlace.ts';
import { readAttacks, type Attack } from '../cards/attack.ts';
import { openRange, type Range } from '../cards/range.ts';

/**
 * The hostile cards over SSH. Left out are those that need what a card elsewhere never gets (folders of this computer,
 * a runner with a terminal) and those that speak to a runner as no engine does. Their controls run with the suite of
 * the cards here: the same attacks without a sandbox succeed.
 */
const left = (attack: Attack): boolean =>
  attack.hostFolders === undefined && !attack.showsProject && !attack.terminal && attack.jobId === undefined;
/** One of each kind is enough to show that it is the same sandbox: every third, and all that reach for the network. */
const attacks = readAttacks()
  .filter(left)
  .filter((attack, index) => index % 3 === 0 || attack.hosts !== undefined);

describe('hostile cards over SSH', function () {
  this.timeout(120_000);
  let host: SshHost;
  let range: Range | undefined;
  let folder = '';

  before(async function () {
    if (!hasSshd) {
      console.log('No sshd here: install openssh-server to run these.');
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'sallyport-hostile-ssh-'));
    host = new SshHost({ folder: join(folder, 'host') });
    await host.start();
    const parts = sshParts({
      folder: join(folder, 'here'),
      config: host.configBlock('lab'),
      known: host.knownLine(),
    });
    range = await openRange({
      connect: async ({ blobs }) => {
        const place = openPlace(parts.transport('lab'), blobs, { times: quickTimes });
        const hello = await place.runner.ready();
        assert.equal(hello.isolation.kind, 'bubblewrap');
        const pid = host.runnerPids()[0] ?? 0;
        return new PlaceClient(place, hello, pid, () => host.runnerPids().includes(pid));
      },
    });
  });
  after(async () => {
    await range?.close();
    if (!folder) return;
    await removeHost(host);
    rmSync(folder, { recursive: true, force: true });
  });

  for (const attack of attacks) {
    it(`${attack.name}: ${attack.title} [PLACE-13]`, async () => {
      assert.ok(range);
      const { outcome, evidence, log } = await range.sealed(attack);
      const told = `\n${log.slice(0, 2000)}\n${JSON.stringify(outcome)}`;
      assert.deepEqual(evidence, [], `The attack worked.${told}`);
      const kinds: readonly string[] = attack.sealed.outcome.map((expected) => expected.kind);
      assert.ok(
        kinds.includes(outcome.kind),
        `It ended as ${outcome.kind}, not ${kinds.join(' or ')}.${told}`,
      );
    });
  }
});
