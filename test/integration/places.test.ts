import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledRunner } from '../support/bundledRunner.ts';
import { longSleep } from '../support/longSleep.ts';
import {
  endProcessesOf,
  KeptWorker,
  PlacesWindow,
  processesWith,
  withOwnSsh,
} from '../support/placesWindow.ts';
import { hasSlurm, SlurmCluster } from '../support/slurmCluster.ts';
import { SshHost } from '../support/sshHost.ts';
import { useWindow } from '../support/useWindow.ts';
import { VaultWindow } from '../support/vaultWindow.ts';
import { builtVmHome, vmFault } from '../support/vm.ts';

const extension = join(import.meta.dirname, '../../out/integration/placesExtension');
/** The sample's cards that run as programs; those in QuickJS stay here. */
const moved = ['calendar', 'extremes', 'load', 'monthly'];

describe('places', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-places-'));
  const home = join(folder, 'person');
  const host = new SshHost({ folder: join(folder, 'lab') });
  const cluster = new SlurmCluster({ folder: join(folder, 'slurm') });
  const head = new SshHost({
    folder: join(folder, 'head'),
    settings: [`SetEnv HOME=${join(folder, 'head/home')} SLURM_CONF=${cluster.configuration}`],
  });
  const digests = new Map<string, Readonly<Record<string, string>>>();
  let places: PlacesWindow;
  let worker: KeptWorker;

  // A run that is interrupted leaves no host behind.
  process.once('exit', () => endProcessesOf(folder));
  before(async () => {
    mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
    await host.start();
    writeFileSync(
      join(home, '.ssh/config'),
      `${host.configBlock('lab')}\nHost *.example\n  User nobody\n\nHost *\n  UserKnownHostsFile ${join(home, '.ssh/known_hosts')}\n  GlobalKnownHostsFile none\n`,
    );
  });

  // As it is installed: a window that tests drive refuses questions that stop everything else.
  const used = useWindow('seattle-weather', {
    isInstalled: true,
    prepare: (staged) => withOwnSsh(staged, extension, home),
  });

  before(async function () {
    // As long as building an image of the VM may take, where none was built before.
    this.timeout(600_000);
    places = new PlacesWindow(used().window, used().folder, extension);
    rmSync(join(used().folder, 'cards/today'), { recursive: true });
    worker = new KeptWorker(join(extension, 'dist/cli.mjs'), join(folder, 'worker'));
    await worker.start();
    if (vmFault() === undefined) places.useVmImage(await builtVmHome(bundledRunner()));
  });
  after(async () => {
    worker.stop();
    await host.stop();
    await head.stop();
    if (hasSlurm) await cluster.remove();
    endProcessesOf(folder);
    endProcessesOf(used().window.server.dataDir);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  /** Runs the sample and keeps the digests of what came out; each moved card says where it ran. */
  async function runIn(place: string, runId: string): Promise<void> {
    const cards = await places.cardEnds(runId);
    assert.deepEqual(
      cards.filter(({ status }) => status.state !== 'done' || status.cached),
      [],
      place,
    );
    for (const { id, status } of cards)
      assert.equal(status.place ?? 'local', moved.includes(id) ? place : 'local', id);
    digests.set(
      place,
      Object.fromEntries(
        cards.flatMap(({ id, outputs }) =>
          outputs.map(({ port, artifact }) => [`${id}/${port}`, artifact.digest]),
        ),
      ),
    );
  }

  it('[PLACEUI-07] the sample’s cards run here', async function () {
    this.timeout(120_000);
    const { window } = used();
    await window.openSideBar();
    await window
      .row('Cards', /^Load readings, not run/)
      .first()
      .waitFor({ timeout: 60_000 });
    if (await window.page.locator('.part.auxiliarybar').isVisible())
      await places.palette('View: Toggle Secondary Side Bar Visibility');
    await runIn('local', await places.runAll());
    assert.equal(Object.keys(digests.get('local') ?? {}).length, 8);
  });

  it('[PLACEUI-02] a person chooses where a card runs, sees the line, and undoes it', async () => {
    const { window } = used();
    const path = join(places.folder, 'cards/extremes/_card.json');
    const original = readFileSync(path, 'utf8');
    await places.closeEditors();
    await places.palette('Sallyport: Choose Where a Card Runs…');
    await places.line('Hottest days').click();
    await places.line('lab over SSH').waitFor();
    await window.screenshot('places-choose');
    assert.equal(await places.quick.getByText('example').count(), 0);
    await places.line('lab over SSH').click();
    await window.until('the line on the disk', async () =>
      Promise.resolve(readFileSync(path, 'utf8').includes('"executionService": "ssh:lab"')),
    );
    await window.row('Cards', /^Hottest days, blocked/).waitFor();
    await window.screenshot('places-chosen');
    await window.page.keyboard.press('Control+z');
    await window.page.keyboard.press('Control+s');
    await window.until('the undone line', async () =>
      Promise.resolve(readFileSync(path, 'utf8') === original),
    );
    await places.closeEditors();
  });

  it('[PLACEUI-07] [PLACEUI-08] they run over SSH, after the host’s key was asked about', async function () {
    this.timeout(150_000);
    const { window } = used();
    places.moveCards(moved, 'ssh:lab');
    await places.accept('ssh:lab', moved.length);
    const runId = await places.runAll(90_000, async () => {
      await window.page.locator('.monaco-dialog-box').waitFor({ timeout: 60_000 });
      await window.screenshot('places-first-use');
      const asked = await places.modal('Connect and Remember the Key');
      assert.match(asked, /ssh:lab \(127\.0\.0\.1:[0-9]+\) for the first time/);
      assert.match(asked, /ssh-ed25519\s+SHA256:[A-Za-z0-9+/]{43}/);
    });
    await runIn('ssh:lab', runId);
    assert.equal(await window.page.locator('.monaco-dialog-box').count(), 0);
  });

  it('[PLACEUI-05] [PLACEUI-07] they run on a worker that this computer enrolled at', async function () {
    this.timeout(150_000);
    const { window } = used();
    const invitation = await worker.invite();
    await places.palette('Sallyport: Enrol at Worker…');
    await places.quick.locator('input.input[type=password]').waitFor();
    await places.enter(/The invitation/, invitation);
    await places.enter(/What the worker is called here/, 'shared');
    await places.enter(/What its owner sees/, 'Somebody');
    await window.notification(/This computer is enrolled at 127\.0\.0\.1/);
    await places.clearNotifications();
    assert.match(await worker.members(), /^SHA256:\S{43} {2}Somebody$/m);
    places.moveCards(moved, 'worker:shared');
    await places.accept('worker:shared', moved.length);
    await runIn('worker:shared', await places.runAll(90_000));
  });

  it('[PLACEUI-07] they run in the VM', async function () {
    const fault = vmFault();
    if (fault !== undefined) {
      console.log(`skipped: ${fault}`);
      this.skip();
    }
    this.timeout(180_000);
    places.moveCards(moved, 'vm');
    await places.accept('vm', moved.length);
    await runIn('vm', await places.runAll(120_000));
  });

  it('[VM-24] a person opens a terminal in the VM, types, and leaves with its exit code', async function () {
    const fault = vmFault();
    if (fault !== undefined) {
      console.log(`skipped: ${fault}`);
      this.skip();
    }
    this.timeout(180_000);
    const { window } = used();
    await places.palette('Sallyport: Open Terminal in VM');
    const terminal = window.page.locator('.terminal-wrapper.active .xterm');
    await terminal.waitFor({ timeout: 120_000 });
    await terminal.locator('.xterm-helper-textarea').focus();
    await window.page.keyboard.type('test "$(id -un)" = person && test ! -w /etc && exit 33\n');
    await window.notification(/exit code: 33/);
    await places.clearNotifications();
  });

  it('[PLACEUI-07] they run through Slurm', async function () {
    if (!hasSlurm) {
      console.log('skipped: Slurm is not installed (slurmctld, slurmd, munged, sbatch)');
      this.skip();
    }
    this.timeout(180_000);
    await cluster.start();
    await head.start();
    appendFileSync(join(home, '.ssh/config'), head.configBlock('head'));
    places.moveCards(moved, 'slurm:head');
    await places.accept('slurm:head', moved.length);
    const runId = await places.runAll(120_000, async () => {
      await places.modal('Connect and Remember the Key');
    });
    await runIn('slurm:head', runId);
    assert.ok((await cluster.jobs()).length > 0);
    await places.clearNotifications();
  });

  it('[PLACEUI-07] what came out is the same everywhere, in one history', async () => {
    const here = digests.get('local');
    for (const [place, each] of digests) assert.deepEqual(each, here, place);
    assert.ok(digests.size >= 3);
    assert.equal(places.runs().length, digests.size);
  });

  it('[PLACEUI-01] the view shows each place with what is known of it', async () => {
    const { window } = used();
    await places.showPlaces();
    await places.row(/^This computer, ready/).waitFor();
    await places.row(/^lab over SSH, ready/).waitFor();
    await places.row(/^Worker shared, ready/).waitFor();
    await places.row(/^lab over SSH/).click();
    await places.row(/^Cards are sealed by bubblewrap/).waitFor();
    if (digests.has('slurm:head')) {
      await places.row(/^Cluster head \(Slurm\), ready/).click();
      await places.row(/^Monthly means, done/).waitFor();
    }
    await window.screenshot('places-view');
    for (const theme of ['Dark Modern', 'Dark High Contrast']) {
      await new VaultWindow(window).theme(theme);
      const kind = theme.includes('High Contrast') ? 'hc-black' : 'vs-dark';
      await window.page.locator(`.monaco-workbench.${kind}`).waitFor();
      await window.screenshot(`places-${theme.replaceAll(' ', '-').toLowerCase()}`);
    }
  });

  it('[PLACEUI-07] a card that is cancelled stops over there', async () => {
    const { window } = used();
    addCard('endless', 'Endless', 'echo on my way\nexec sleep 61771\n');
    await places.showCards();
    await places.accept('ssh:lab', 1);
    await places.runCard(/^Endless/);
    await window.row('Cards', /^Endless, running · lab over SSH/).waitFor();
    await window.until('the program over there', async () => Promise.resolve(sleepers().length > 0));
    await places.palette('Sallyport: Cancel Run');
    await window.row('Cards', /^Endless, cancelled/).waitFor();
    assert.deepEqual(sleepers(), []);
  });

  it('[PLACEUI-07] a connection that is killed loses nothing: the card goes on and is found again', async () => {
    const { window } = used();
    const numbers = Array.from({ length: 40 }, (_, at) => `${at + 1}\n`).join('');
    const nap = longSleep();
    addCard(
      'counts',
      'Counts',
      `i=0\nwhile [ $i -lt 40 ]; do i=$((i+1)); echo $i; echo $i >> "$SALLYPORT_OUTPUTS/numbers"; [ $i != 20 ] || ${nap.command}; done\n`,
      { numbers: { type: 'text' } },
    );
    await places.accept('ssh:lab', 1);
    const [before] = places.runs();
    await places.runCard(/^Counts/);
    await window.row('Cards', /^Counts, running/).waitFor();
    const killed = host.sessions();
    assert.ok(killed.length > 0);
    host.signalSessions('SIGKILL');
    await window.until('another connection', async () =>
      Promise.resolve(host.sessions().some((pid) => !killed.includes(pid))),
    );
    await nap.wake();
    await window.row('Cards', /^Counts, done · lab over SSH/).waitFor({ timeout: 60_000 });
    const [run] = places.runs();
    assert.ok(run && run.runId !== before?.runId);
    const [card] = (await places.cardEnds(run.runId)).filter(({ id }) => id === 'counts');
    assert.equal(card?.outputs[0]?.artifact.digest, hash('sha256', numbers));
  });

  it('[PLACEUI-03] what a killed engine left over there is seen and ended by the person', async () => {
    const { window } = used();
    await places.runCard(/^Endless/);
    await window.row('Cards', /^Endless, running/).waitFor();
    await window.until('the program over there', async () => Promise.resolve(sleepers().length > 0));
    await places.killEngine();
    await places.clearNotifications();
    assert.ok(sleepers().length > 0, 'it goes on');
    await places.palette('Sallyport: Show Held Jobs');
    await places.line('lab over SSH').click();
    await places.line(/^endless/).waitFor();
    await window.screenshot('places-held');
    await places.line(/^endless/).click();
    await places.quick.getByRole('button', { name: 'OK' }).click();
    await places.line('End and Forget').click();
    await window.notification(/One job was ended and forgotten/);
    await window.until('its end', async () => Promise.resolve(sleepers().length === 0));
    await places.clearNotifications();
    await window.row('Cards', /^Endless, cancelled/).waitFor();
  });

  it('[PLACEUI-06] Doctor says which place can’t be used and what to do', async () => {
    const { window } = used();
    await host.stop();
    await places.palette('Sallyport: Doctor');
    const failed = window.page.locator('.view-line', { hasText: '[failed] lab over SSH' });
    await failed.waitFor({ timeout: 90_000 });
    await window.page.locator('.view-line', { hasText: /connection.lost|can’t.be.used/ }).waitFor();
    await window.screenshot('places-doctor');
  });

  /** A card of shell that runs on the host `lab`. */
  function addCard(id: string, title: string, script: string, outputs: object = {}): void {
    const card = join(places.folder, 'cards', id);
    mkdirSync(card);
    writeFileSync(join(card, 'main.sh'), script);
    const manifest = { version: 1, title, runtime: 'shell', entry: 'main.sh', outputs };
    const permissions = { executionService: 'ssh:lab' };
    writeFileSync(join(card, '_card.json'), JSON.stringify({ ...manifest, permissions }, null, 2));
  }

  /** The processes of the card that never ends. */
  function sleepers(): number[] {
    return processesWith('sleep\0' + '61771');
  }
});
