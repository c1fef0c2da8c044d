import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { PersonBrowser } from '../support/personBrowser.ts';
import { useWindow } from '../support/useWindow.ts';
import { VaultWindow } from '../support/vaultWindow.ts';

describe('the vault', () => {
  const used = useWindow('tiny', { isInstalled: true });
  const token = `tok-${randomBytes(12).toString('hex')}`;
  const password = `pw/${randomBytes(9).toString('hex')}"<&`;
  let vault: VaultWindow;
  let browser: PersonBrowser;

  before(async function () {
    this.timeout(120_000);
    vault = new VaultWindow(used().window);
    browser = new PersonBrowser(used().window.page.context());
    await used().window.openSideBar();
    await vault.show();
  });

  it('[VAULTUI-01] is created with a recovery key that is shown once, and takes a token', async () => {
    await vault.row(/^Agents’ vault, not created yet/).waitFor();
    await used().window.screenshot('vault-empty');
    await used().window.palette('Sallyport: Add to the Vault');
    const kit = await vault.dialog(/recovery key of the agents’ vault/);
    assert.match(await kit.innerText(), /SP1-[2-9A-Z]{6}(-[2-9A-Z]{5}){6}/);
    await used().window.screenshot('vault-kit');
    await vault.press('I Have It on Paper');
    await vault.line('token').click();
    await vault.enter(/Title, as it is listed/, 'Build API');
    await vault.enter(/Value of “value”/, token);
    await vault.line('Hosts').click();
    await vault.enter(/Hosts that a value may be sent to/, 'API.example.org');
    await vault.quick.getByText(/is no host as a request names it/).waitFor();
    await vault.enter(/Hosts that a value may be sent to/, '127.0.0.1:1234');
    await used().window.screenshot('vault-form');
    await vault.line(/^Save/).click();
    await used().window.notification(/“Build API” is sealed in the vault/);
    await vault.row(/^Build API, token/).waitFor();
  });

  it('[VAULTUI-01] takes a database with a password, typed hidden', async () => {
    await vault.clearNotifications();
    await used().window.palette('Sallyport: Add to the Vault');
    await vault.line('database').click();
    await vault.enter(/Title, as it is listed/, 'Orders');
    await vault.enter(/Value of “host”/, 'db.example.org');
    await vault.enter(/Value of “database”/, 'orders');
    await vault.enter(/Value of “username”/, 'reader');
    await vault.quick.locator('input.input[type=password]').waitFor();
    await vault.enter(/Value of “password”/, password);
    await vault.line(/^Save/).click();
    await vault.row(/^Orders, database/).waitFor();
    await vault.row(/^Orders, database/).click();
    await vault.row(/^password, secret · sealed/).waitFor();
    await used().window.screenshot('vault-listed');
  });

  it('[VAULTUI-02] shows one value after a passkey, for its own act, and hides it again', async () => {
    const { window } = used();
    await vault.row(/^password, secret/).click();
    await vault.line('Passkey').click();
    const making = await browser.opened(() => vault.enter(/Name of the passkey/, 'My laptop'));
    await making.screenshot({ path: 'test/artifacts/vscode/presence-create.png' });
    const asking = await browser.opened(() => browser.confirm(making));
    await asking.screenshot({ path: 'test/artifacts/vscode/presence-ask.png' });
    const said = await browser.confirm(asking);
    assert.match(said, /Show or copy the field “password” of “Orders” \(agents’ vault\), version 1/);
    const box = vault.quick.locator('input.input');
    await window.until('the value', async () => (await box.inputValue()) === password);
    await vault.quick.getByText(/Hides itself in \d+ s/).waitFor();
    await window.screenshot('vault-revealed');
    await vault.quick.waitFor({ state: 'hidden', timeout: 40_000 });
    assert.equal(await vault.occurrences(password), 0);
  });
});
