import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppsWindow } from '../support/appsWindow.ts';
import { PersonBrowser } from '../support/personBrowser.ts';
import { endProcessesOf, withOwnSsh } from '../support/placesWindow.ts';
import { chatCompletionsFormat } from '../support/providers/chatCompletions.ts';
import { ScriptedModel } from '../support/scriptedModel.ts';
import { useWindow } from '../support/useWindow.ts';
import { VaultAway } from '../support/vaultAway.ts';
import { VaultWindow } from '../support/vaultWindow.ts';
import { WorkbenchWindow } from '../support/workbenchWindow.ts';

const token = `tok-${randomBytes(12).toString('hex')}`;
const apiToken = `api-${randomBytes(12).toString('hex')}`;
const password = `pw/${randomBytes(9).toString('hex')}"<&`;
const passphrase = 'correct horse battery staple';
const shared = mkdtempSync(join(tmpdir(), 'sallyport-backup-'));
const backup = join(shared, 'agents.vault');
const artifacts = join(import.meta.dirname, '../artifacts/vscode');

/** How a value could stand in a file or a page. */
const spellings = [token, apiToken, password].flatMap((value) => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  Buffer.from(value).toString('base64'),
  Buffer.from(value).toString('hex'),
]);

/** The files below a folder that hold one of the values. */
function filesWithValues(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      try {
        const text = readFileSync(path, 'latin1');
        return spellings.some((each) => text.includes(each));
      } catch {
        // Gone meanwhile: lock files and sockets come and go.
        return false;
      }
    });
}

after(() => rmSync(shared, { recursive: true, force: true, maxRetries: 5 }));

describe('the vault', () => {
  const away = new VaultAway(shared);
  const extraCertificates = process.env['NODE_EXTRA_CA_CERTS'];
  before(async () => {
    await away.start();
    // What a window trusts is read when its extension host starts.
    process.env['NODE_EXTRA_CA_CERTS'] = away.authority;
  });
  after(async () => {
    if (extraCertificates === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
    else process.env['NODE_EXTRA_CA_CERTS'] = extraCertificates;
    await away.stop();
    endProcessesOf(away.host.folder);
  });
  const used = useWindow('tiny', {
    isInstalled: true,
    prepare: (staged) => withOwnSsh(staged, join(shared, 'extension'), away.home),
  });
  const model = new ScriptedModel(chatCompletionsFormat);
  const seen: IncomingMessage['headers'][] = [];
  const origin = createServer((request, response) => {
    seen.push(request.headers);
    response.end(`hello; you sent ${request.headers.authorization ?? 'nothing'}\n`);
  });
  let host = '';
  let vault: VaultWindow;
  let browser: PersonBrowser;
  let apps: AppsWindow;

  /** A card of the open project. */
  function addCard(id: string, manifest: object, script: string): void {
    const card = join(used().folder, 'cards', id);
    mkdirSync(card, { recursive: true });
    writeFileSync(join(card, 'main.sh'), script);
    const whole = { version: 1, runtime: 'shell', entry: 'main.sh', ...manifest };
    writeFileSync(join(card, '_card.json'), JSON.stringify(whole, null, 2));
  }

  async function assertNowhere(): Promise<void> {
    for (const each of spellings) assert.equal(await vault.occurrences(each), 0, each);
    const { window, folder } = used();
    assert.deepEqual(filesWithValues(window.server.dataDir), []);
    assert.deepEqual(filesWithValues(folder), []);
    assert.ok(!spellings.some((each) => window.server.log().includes(each) || window.log().includes(each)));
  }

  before(async function () {
    this.timeout(240_000);
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
    vault = new VaultWindow(used().window);
    apps = new AppsWindow(used().window);
    browser = new PersonBrowser(used().window.page.context());
    await used().window.openSideBar();
    await used()
      .window.row('Cards', /^Hello/)
      .first()
      .waitFor({ timeout: 60_000 });
    await vault.show();
  });
  after(async () => {
    origin.closeAllConnections();
    origin.close();
    await model.server.stop();
  });

  it('[VAULTUI-01] is created with a recovery key that is shown once, and takes a token', async () => {
    const { window } = used();
    await vault.row(/^Agents’ vault, not created yet/).waitFor();
    await window.palette('Sallyport: Add to the Vault');
    const kit = await vault.dialog(/recovery key of the agents’ vault/);
    assert.match(await kit.innerText(), /SP1-[2-9A-Z]{6}(-[2-9A-Z]{5}){6}/);
    await window.screenshot('vault-kit');
    await vault.press('I Have It on Paper');
    await vault.line('token').click();
    await vault.enter(/Title, as it is listed/, 'Build API');
    await vault.enter(/Value of “value”/, token);
    await vault.line('Hosts').click();
    await vault.enter(/Hosts that a value may be sent to/, 'API.example.org');
    await vault.quick.getByText(/is no host as a request names it/).waitFor();
    await vault.enter(/Hosts that a value may be sent to/, host);
    await window.screenshot('vault-form');
    await vault.line(/^Save/).click();
    await vault.row(/^Build API, token/).waitFor();
    await vault.clearNotifications();
  });

  it('[VAULTUI-01] [VAULTUI-04] takes a database password into the personal vault, which a password and a Secret Key open', async () => {
    const { window } = used();
    await vault.row(/^Create it with a password/).click();
    await vault.enter(/Password of the personal vault/, 'my own pass phrase');
    await vault.enter(/The same once more/, 'my own pass phrase');
    await vault.dialog(/Secret Key of your personal vault/);
    await vault.press('I Have It on Paper');
    await vault.row(/^Personal vault, 0 items/).waitFor();
    await window.page.locator('[id*="sallyport.vault"]').getByText('Personal vault open').waitFor();
    await vault.row(/^Add an item/).click();
    await vault.line('database').click();
    await vault.enter(/Title, as it is listed/, 'Orders');
    await vault.enter(/Value of “host”/, 'db.example.org');
    await vault.enter(/Value of “database”/, 'orders');
    await vault.enter(/Value of “username”/, 'reader');
    await vault.quick.locator('input.input[type=password]').waitFor();
    await vault.enter(/Value of “password”/, password);
    await vault.line(/^Save/).click();
    await vault.row(/^Orders, database/).click();
    await vault.row(/^password, secret · sealed/).waitFor();
    await vault.clearNotifications();
    await window.screenshot('vault-listed');
    await assertNowhere();
  });

  it('[VAULTUI-02] shows one value after a passkey, for its own act, and hides it again', async () => {
    const { window } = used();
    await vault.row(/^password, secret/).click();
    await vault.line('Passkey').click();
    const making = await browser.opened(() => vault.enter(/Name of the passkey/, 'My laptop'));
    await making.screenshot({ path: join(artifacts, 'presence-create.png') });
    const asking = await browser.opened(() => browser.confirm(making));
    await asking.screenshot({ path: join(artifacts, 'presence-ask.png') });
    const said = await browser.confirm(asking);
    assert.match(said, /Show or copy the field “password” of “Orders” \(personal vault\), version 1/);
    const box = vault.quick.locator('input.input').first();
    await window.until('the value', async () => (await box.inputValue()) === password);
    await vault.quick.getByText(/Hides itself in \d+ s/).waitFor();
    await window.screenshot('vault-revealed');
    await vault.quick.waitFor({ state: 'hidden', timeout: 45_000 });
    await assertNowhere();
  });

  it('[VAULTUI-05] grants the token to one card for one host: the card sends it and never has it', async () => {
    const { window } = used();
    addCard(
      'fetch',
      {
        title: 'Fetch',
        outputs: { answer: { type: 'text' } },
        permissions: {
          network: [host],
          vault: [
            {
              item: 'build-api',
              field: 'value',
              use: { type: 'header', hosts: [host], name: 'authorization', prefix: 'Bearer ' },
            },
          ],
        },
        view: { output: 'answer' },
      },
      `env\ncurl -sS http://${host}/ | tee "$SALLYPORT_OUTPUTS/answer"\n`,
    );
    await window.row('Cards', /^Fetch.*blocked/).waitFor();
    await window.palette('Sallyport: Review Permissions');
    await vault.line(/in the header authorization of requests/).click();
    await vault.line(/^Reach 127\.0\.0\.1/).click();
    const use = vault.line(/in the header authorization of requests/);
    await use.hover();
    await use.getByRole('button', { name: 'Read the whole text' }).click();
    await window.page.getByText('A permission of Fetch').first().waitFor();
    await vault.quick.locator('input.input').first().click();
    await window.screenshot('vault-permissions');
    await window.page.keyboard.press('Enter');
    await window.row('Cards', /^Fetch.*not run/).waitFor();
    await window.row('Cards', /^Fetch/).click();
    await window.palette('Sallyport: Run Card');
    await window.row('Cards', /^Fetch.*done/).waitFor({ timeout: 60_000 });
    await window.row('Cards', /^Fetch/).click();
    assert.deepEqual(
      seen.map(({ authorization }) => authorization),
      [`Bearer ${token}`],
    );
    await assertNowhere();
    await vault.clearNotifications();
    await window.palette('Sallyport: Uses of Vault Values');
    const lines = window.page.locator('.monaco-editor .view-lines');
    await lines
      .getByText(/The.card.fetch.+build-api/)
      .first()
      .waitFor();
    await window.palette('View: Close All Editors');
  });

  it('[VAULTUI-06] lets what an agent asks for wait, and takes the answer with a passkey', async () => {
    const { window } = used();
    addCard(
      'report',
      {
        title: 'Report',
        outputs: { answer: { type: 'text' } },
        permissions: { vault: [{ item: 'orders', field: 'password', env: 'DB_PASSWORD' }] },
      },
      'test -n "$DB_PASSWORD" && echo "$DB_PASSWORD" | tee "$SALLYPORT_OUTPUTS/answer"\n',
    );
    await window.row('Cards', /^Report/).waitFor();
    const bench = new WorkbenchWindow(window);
    const address = await model.server.start('/v1');
    await window.pane('Workbench').locator('.pane-header').click();
    const page = await bench.page('.empty-view');
    await page.getByRole('button', { name: 'Connect a Model' }).click();
    await bench.line('OpenAI-compatible API').click();
    await bench.enter(/Base address/, address);
    await bench.enter(/Key for http:/, 'sk-a-key-of-the-scripted-model');
    await window.notification(/is connected and offers one model/);
    await vault.clearNotifications();
    const args = { card: 'report', item: 'orders', field: 'password', reason: 'To read the orders' };
    model.will({ calls: [{ name: 'vault_ask', args }] }, { text: ['I have asked for it.'] });
    await bench.send('Let the report read the orders');
    const conversation = await bench.page();
    const done = conversation.getByText('I have asked for it.');
    await done.waitFor();
    assert.ok(!spellings.some((each) => JSON.stringify(model.server.seen).includes(each)));
    const asks = await window.notification(/Somebody asks for a value of the vault/);
    await asks.getByRole('button', { name: 'Review' }).click();
    await vault.line('It says: To read the orders').waitFor();
    await window.screenshot('vault-request');
    const asking = await browser.opened(() => vault.line('Allow for an hour').click());
    const said = await browser.confirm(asking);
    assert.match(
      said,
      /Allow: The card report uses “password” of “Orders” in its environment, as DB_PASSWORD/,
    );
    await window.notification(/^Granted: The card report/);
    await vault.clearNotifications();
    await assertNowhere();
  });

  it('[VAULTUI-07] runs a command with the token in its environment, whose output is free of it', async () => {
    const { window } = used();
    await window.palette('Sallyport: Run Command With Vault Values');
    await vault.line('Build API · value').click();
    await window.page.keyboard.press('Enter');
    await vault.enter(/Variable for Build API/, 'BUILD_API');
    await vault.enter(
      /Command, run by a shell/,
      'echo "raw $BUILD_API" && printf %s "$BUILD_API" | base64 && echo ${#BUILD_API} characters',
    );
    await window.page.locator('.xterm').waitFor();
    const text = await window.until('the end of the command', async () => {
      const shown = await vault.terminalText();
      return shown.includes('Ended with 0') && shown;
    });
    assert.ok(!spellings.some((each) => text.includes(each)), text);
    assert.match(text, /raw \[/);
    assert.ok(text.includes(`${token.length} characters`), text);
    await window.screenshot('vault-run');
    await assertNowhere();
    await window.palette('Terminal: Kill the Active Terminal Instance');
  });

  it('[VAULTUI-09] lets a plugin ask an API with a token that neither it nor the page has', async function () {
    this.timeout(150_000);
    const { window } = used();
    await vault.show();
    await window.palette('Sallyport: Add to the Vault');
    await vault.line('Agents’ vault').click();
    await vault.line('token').click();
    await vault.enter(/Title, as it is listed/, 'Notes API');
    await vault.enter(/Value of “value”/, apiToken);
    await vault.line('Hosts').click();
    await vault.enter(/Hosts that a value may be sent to/, away.api);
    await vault.line(/^Save/).click();
    await vault.row(/^Notes API, token/).waitFor();
    await window.palette('Sallyport: Install App');
    await vault.line(/^Folder/).click();
    await apps.chooseFile(away.app, 'Review This Folder');
    await apps.answer('Install Asker 1.0.0');
    await window.notification(/Asker 1\.0\.0 is installed/);
    await vault.clearNotifications();
    await window.palette('Sallyport: Let a Plugin Use a Value');
    await vault.line('Notes API').click();
    await vault.line('api of Asker').click();
    await vault.line('As a bearer token').click();
    await vault.line('The plugin api of the app asker').waitFor();
    await vault.line('Open whole text').click();
    await vault.line('Allow until you revoke it').waitFor();
    await window.screenshot('vault-plugin');
    await vault.line('Allow until you revoke it').click();
    await window.notification(/^Granted: The plugin api of the app asker/);
    await vault.clearNotifications();
    await window.palette('Sallyport: Open App');
    await vault.line('Asker').click();
    const app = await apps.app();
    const said = app.locator('#said');
    await app.getByRole('button', { name: 'Ask the API' }).click();
    await said.getByText('200 authorization: Bearer [vault value removed]').waitFor();
    assert.deepEqual(away.sent(), [`Bearer ${apiToken}`]);
    await window.screenshot('vault-plugin-answer');
    await assertNowhere();
    // Keys that are pressed in an app stay there.
    await vault.row(/^Notes API, token/).click();
    // Taken back, the next request goes without it.
    await window.palette('Sallyport: Vault Grants');
    await vault.line('The plugin api of the app asker').click();
    await vault.dialog(/Revoke this\?/);
    await vault.press('Revoke');
    await window.notification(/Revoked/);
    await vault.clearNotifications();
    await app.getByRole('button', { name: 'Ask the API' }).click();
    await said.getByText('200 authorization: none').waitFor();
    assert.equal(away.sent()[1], undefined);
    await vault.row(/^Notes API, token/).click();
    await window.palette('View: Close All Editors');
  });

  it('[VAULTUI-11] asks once for what a plugin wishes for, after the review of the update that brings it', async function () {
    this.timeout(150_000);
    const { window } = used();
    const use = { type: 'header', hosts: [away.api], name: 'authorization', prefix: 'Bearer ' };
    away.writeApp('1.1.0', [{ item: 'asker-api', field: 'token', use }]);
    await window.palette('Sallyport: Check for App Updates');
    await window.notification(/asks for more, so it waits for your review/);
    await vault.clearNotifications();
    await window.palette('Sallyport: Review Waiting Update');
    await vault.line('Asker').click();
    const lines = await apps.review(`Would like a vault value for ${away.api}`);
    assert.match(lines.join('\n'), /you choose it, new[^]*token of asker-api, in the header authorization/);
    await apps.answer('Update to 1.1.0');
    await vault.line('It calls it “token” of “asker-api”').waitFor();
    await vault.line(`in the header authorization of requests to ${away.api}`).waitFor();
    await window.screenshot('vault-wish');
    assert.equal(await vault.line('Build API').count(), 0, 'it was saved for another host');
    await vault.line('Notes API · value').click();
    await vault.line('The plugin api of the app asker').waitFor();
    await vault.line('Open whole text').click();
    await vault.line('Allow until you revoke it').click();
    await window.notification(/^Granted: The plugin api of the app asker/);
    await vault.clearNotifications();
    const asked = away.sent().length;
    await window.palette('Sallyport: Open App');
    await vault.line('Asker').click();
    const app = await apps.app();
    const said = app.locator('#said');
    await app.getByRole('button', { name: 'Ask the API' }).click();
    await said.getByText('200 authorization: Bearer [vault value removed]').waitFor();
    await vault.row(/^Notes API, token/).click();
    // The person changes their mind: no value, from the next request on.
    await window.palette('Sallyport: Choose Values That Plugins Wish For');
    await vault.line('Now: Notes API · value').waitFor();
    await vault.line('No value: it asks without one').click();
    await window.notification(/api of Asker asks without a value/);
    await vault.clearNotifications();
    await app.getByRole('button', { name: 'Ask the API' }).click();
    await said.getByText('200 authorization: none').waitFor();
    assert.deepEqual(away.sent().slice(asked), [`Bearer ${apiToken}`, undefined]);
    await assertNowhere();
    await vault.row(/^Notes API, token/).click();
    await window.palette('View: Close All Editors');
  });

  it('[VAULTUI-10] signs in to a host over SSH with a key that the vault made and never shows', async function () {
    this.timeout(150_000);
    const { window } = used();
    await vault.show();
    await window.palette('Sallyport: Add to the Vault');
    await vault.line('Agents’ vault').click();
    await vault.line('key pair').click();
    await vault.enter(/Title, as it is listed/, 'Lab');
    await vault.line('Make a fresh Ed25519 key pair').click();
    await vault.row(/^Lab, key pair/).click();
    const asking = await browser.opened(() => vault.row(/^public-key, /).click());
    await browser.confirm(asking);
    const box = vault.quick.locator('input.input').first();
    const line = await window.until('the public key', async () => {
      const shown = await box.inputValue();
      return shown.startsWith('ssh-ed25519 ') && shown;
    });
    await window.page.keyboard.press('Escape');
    away.letIn(line);
    addCard(
      'distant',
      {
        title: 'Distant',
        outputs: { answer: { type: 'text' } },
        permissions: { executionService: 'ssh:lab' },
      },
      'echo "from $SSH_CONNECTION" > "$SALLYPORT_OUTPUTS/answer"\n',
    );
    await window.row('Cards', /^Distant.*blocked/).waitFor();
    await window.palette('Sallyport: Review Permissions');
    await vault.line(/Run on ssh:lab/).click();
    await vault.quick.getByRole('button', { name: 'OK' }).click();
    await window.row('Cards', /^Distant.*not run/).waitFor();
    await window.row('Cards', /^Distant/).click();
    await window.palette('Sallyport: Run Card');
    await vault.dialog(/for the first time/);
    await vault.press('Connect and Remember the Key');
    await vault.line('The place ssh:lab').waitFor({ timeout: 60_000 });
    await vault.line('to sign in over SSH').waitFor();
    await window.screenshot('vault-ssh');
    await vault.line('Allow once').click();
    await window.row('Cards', /^Distant.*done/).waitFor({ timeout: 90_000 });
    const taken = away.signIns();
    assert.equal(taken.length, 1, taken.join('\n'));
    assert.match(taken[0] ?? '', /ED25519 SHA256:/);
    await vault.clearNotifications();
    await window.palette('Sallyport: Uses of Vault Values');
    const lines = window.page.locator('.monaco-editor .view-lines');
    await lines
      .getByText(/The.place.ssh:lab.+lab.+private-key/)
      .first()
      .waitFor();
    await window.palette('View: Close All Editors');
  });

  it('[VAULTUI-08] seals a backup to a passphrase', async () => {
    const { window } = used();
    await window.palette('Sallyport: Back Up a Vault');
    await vault.line('Agents’ vault').click();
    await vault.path(backup);
    await vault.enter(/Passphrase of the backup/, passphrase);
    await vault.enter(/The same once more/, passphrase);
    await window.notification(/The vault is sealed in agents\.vault/);
    assert.deepEqual(filesWithValues(shared), []);
    await vault.clearNotifications();
  });

  it('looks right in light, dark and high contrast', async () => {
    const { window } = used();
    await vault.show();
    for (const theme of ['Dark Modern', 'Light Modern', 'Dark High Contrast']) {
      await vault.theme(theme);
      await window.screenshot(`vault-${theme.toLowerCase().replaceAll(' ', '-')}`);
    }
  });

  it('[VAULTUI-04] locks both vaults on a command', async () => {
    await used().window.palette('Sallyport: Lock the Vaults');
    await vault.row(/^Personal vault, locked/).waitFor();
    await vault.row(/^Agents’ vault, locked/).waitFor();
  });
});

describe('the vault on another machine', () => {
  const used = useWindow('tiny', { isInstalled: true });

  it('[VAULTUI-08] shows what is in a backup before it is restored', async function () {
    this.timeout(200_000);
    const { window } = used();
    const vault = new VaultWindow(window);
    await window.openSideBar();
    await vault.show();
    await vault.row(/^Restore a backup/).click();
    await vault.path(backup);
    await vault.enter(/Passphrase of agents\.vault/, 'not the passphrase');
    await vault.enter(/is not the passphrase of this backup/, passphrase);
    await vault.line('Build API').waitFor();
    await window.screenshot('vault-restore');
    await vault.row(/^Agents’ vault, not created yet/).waitFor();
    await vault.line('Restore this backup').click();
    await vault.dialog(/recovery key of the agents’ vault/);
    await vault.press('I Have It on Paper');
    await vault.row(/^Build API, token/).waitFor();
    assert.deepEqual(filesWithValues(window.server.dataDir), []);
  });
});
