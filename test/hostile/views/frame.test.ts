import assert from 'node:assert/strict';
import type { Frame, Page } from 'playwright-core';
import { useBareDocument, useShells } from '../../support/useShells.ts';
import { pageHost, pageWebview } from '../../../protocol/src/webview.ts';
import { openShell } from '../../support/shellPage.ts';
import { webviewFile } from '../../support/webviews.ts';

/** What a page in the frame can do to the shell around it, and what the shell does about a page that misbehaves. */
describe('The shell around a sealed frame', () => {
  const shells = useShells();
  const bare = useBareDocument();
  let frameScript: string;

  before(async () => {
    frameScript = await webviewFile('view.js');
  });

  async function show(html: string, script = frameScript) {
    const page = await shells.context.newPage();
    let asked = 0;
    const shell = await openShell(page, shells.shellUrl('page'), {
      local: pageHost,
      remote: pageWebview,
      requestHandlers: {
        'page/ready': () => {
          asked += 1;
          return { frameScript: script, title: 'attack', html };
        },
      },
      notificationHandlers: {},
    });
    return { page, shell, bad: shell.bad, asked: () => asked };
  }

  /** The same page in a frame of the shell's own origin, as hosts do that do not seal. */
  async function showUnsealed(html: string): Promise<Page> {
    bare.html = `<!doctype html><script>window.secret='kept';window.keys=[];addEventListener('keydown',e=>keys.push(e.key),true)</script><iframe srcdoc="${html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
    const page = await shells.context.newPage();
    await page.goto(bare.origin);
    return page;
  }

  const report = (code: string) =>
    `<!doctype html><body><script>
      let out; try { out = (${code})(); } catch (error) { out = 'refused ' + error.name; }
      document.title = 'told'; document.body.dataset.out = String(out);
    </script>`;

  async function told(page: Page): Promise<string> {
    const frame = await innerFrame(page);
    await frame.waitForFunction(() => document.querySelector('body[data-out]') !== null);
    return (await frame.evaluate(() => document.body.dataset['out'])) ?? '';
  }

  const reaches: readonly (readonly [string, string, string])[] = [
    ['M3: reads a variable of the shell', `() => parent.secret ?? parent.location.href`, 'kept'],
    ['M3: reads its storage', `() => typeof localStorage`, 'object'],
    ['M3: reads its cookies', `() => { document.cookie = 'a=b'; return document.cookie; }`, 'a=b'],
    [
      'M4: reaches the outer window through a borrowed getter',
      `() => Object.getOwnPropertyDescriptor(parent, 'parent').get.call(parent).document.title === undefined`,
      'false',
    ],
    [
      'case 4: types a key into the shell',
      `() => { parent.dispatchEvent(new KeyboardEvent('keydown', { key: 'P', ctrlKey: true, shiftKey: true })); return 'typed'; }`,
      'typed',
    ],
    ['M16: reads the clipboard', `() => typeof parent.navigator.clipboard`, 'object'],
  ];
  for (const [title, code, reached] of reaches) {
    it(`[VIEW-02] ${title}: refused`, async () => {
      const { page } = await show(report(code));
      assert.match(await told(page), /^refused (SecurityError|TypeError)$/);
      assert.deepEqual(await page.evaluate(() => window.keys), []);
      const control = await showUnsealed(report(code));
      assert.equal(await told(control), reached);
    });
  }

  it('[VIEW-02] M6: messages that a page, or a frame inside it, forges are not taken for the extension’s', async () => {
    const forged = `{ jsonrpc: '2.0', id: 1, result: { frameScript: '', title: 'forged', html: 'forged' } }`;
    const { page, bad } = await show(
      `<!doctype html><body><script>parent.postMessage(${forged}, '*'); parent.postMessage('sent', '*');</script>`,
    );
    await page.waitForFunction(() => window.seen.includes('sent'));
    assert.equal(await page.locator('iframe').count(), 1);
    assert.equal(await page.locator('iframe').getAttribute('title'), 'Sealed view of attack');
    assert.deepEqual(bad, []);
  });

  it('[VIEW-02] a port that a page steals by changing prototypes asks for nothing that counts', async () => {
    const { page, asked } = await show(`<!doctype html><body><script>
      MessagePort.prototype.postMessage = new Proxy(MessagePort.prototype.postMessage, {
        apply(target, port, args) {
          for (const method of ['page/ready', 'run/again', 'view/ready', 'view/drawn', 'constructor', '__proto__']) {
            Reflect.apply(target, port, [{ jsonrpc: '2.0', id: 7, method, params: {} }]);
            Reflect.apply(target, port, [{ jsonrpc: '2.0', method, params: { netClosed: true, problem: '', heightPx: 1e9 } }]);
          }
          parent.postMessage('stolen', '*');
          return Reflect.apply(target, port, args);
        },
      });
    </script>`);
    await page.waitForFunction(() => window.seen.includes('stolen'));
    await page.locator('iframe').waitFor();
    assert.equal(asked(), 1, 'the shell asked once, and the page not at all');
  });

  it('[VIEW-03] M17: a busy loop does not stop the shell, which offers to close the view', async () => {
    const { page } = await show(
      `<!doctype html><body><script>parent.postMessage('busy', '*'); setTimeout(() => { for (;;); }, 200);</script>`,
    );
    await page.waitForFunction(() => window.seen.includes('busy'));
    await page.waitForFunction(() => document.querySelector('.page-bar')?.hasAttribute('hidden'));
    await page.waitForFunction(
      () => {
        document.querySelector('iframe')?.dispatchEvent(new Event('pointerenter'));
        return document.querySelector('.page-bar')?.textContent.includes('This view does not answer.');
      },
      undefined,
      { polling: 200 },
    );
    // Not a click of the driver: it asks every frame, the hung one too.
    await page.evaluate(() => document.querySelector<HTMLButtonElement>('.page-bar button')?.click());
    await page.getByText('Closed.').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
  });

  it('[VIEW-03] a page that floods its port is closed with words', async () => {
    const { page } = await show(`<!doctype html><body><script>
      MessagePort.prototype.postMessage = new Proxy(MessagePort.prototype.postMessage, {
        apply(target, port, args) {
          for (let n = 0; n < 5000; n++) Reflect.apply(target, port, [{ jsonrpc: '2.0', method: 'x' }]);
          return Reflect.apply(target, port, args);
        },
      });
    </script>`);
    await page.getByText('Closed, because it sent too many messages.').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
  });

  it('[VIEW-03] M7: a page that navigates itself away is closed with words', async () => {
    const { page } = await show(
      `<!doctype html><body><script>setTimeout(() => { location = 'https://away.invalid/'; }, 300);</script>`,
    );
    await page.getByText('Closed, because it tried to leave its frame.').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
  });

  it('[VIEW-01] case 10: a frame whose own probe finds it open is closed before it gets the page', async () => {
    const open = frameScript.replaceAll('probe.invalid/', '');
    assert.notEqual(open, frameScript);
    const { page } = await show(
      '<script>parent.postMessage("ran", "*")</script>',
      open.replaceAll('https://', 'data:,'),
    );
    await page.getByText('Closed, because its seal is not whole on this computer').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
    assert.equal(await page.evaluate(() => window.seen.includes('ran')), false);
  });

  it('[VIEW-02] case 1: command, vscode, file and javascript links of a page do nothing', async () => {
    const { page } = await show(
      [
        'command:workbench.action.quit',
        'vscode://x/y',
        'file:///etc/passwd',
        'javascript:parent.postMessage(1,"*")',
      ]
        .map((href, index) => `<p><a id="l${index}" href='${href}'>link</a></p>`)
        .join(''),
    );
    const frame = await innerFrame(page);
    await frame.waitForSelector('#l3');
    const url = page.url();
    for (let index = 0; index < 4; index++) {
      await frame.evaluate((id) => document.getElementById(id)?.click(), `l${index}`).catch(() => undefined);
    }
    assert.equal(page.url(), url);
    assert.deepEqual(await page.evaluate(() => window.seen), []);
    assert.equal(shells.context.pages().length, 1);
  });

  it('a link to a place in the page scrolls there, and a link to elsewhere leaves the page where it is', async () => {
    const { page } = await show(
      `<a id="in" href="#far">in</a><a id="out" href="https://x.invalid/">out</a><div style="height:5000px"></div><p id="far">far</p>`,
    );
    const frame = await innerFrame(page);
    await frame.waitForSelector('#far');
    await page.waitForFunction(() => document.querySelector('.page-bar')?.hasAttribute('hidden'));
    await frame.evaluate(() => {
      document.getElementById('out')?.click();
      document.getElementById('in')?.click();
    });
    await frame.waitForFunction(() => document.documentElement.scrollTop + document.body.scrollTop > 1000);
    assert.equal(await page.locator('iframe').count(), 1);
  });

  it('[VIEW-01] the frame has an opaque origin, the policy first, and no nonce', async () => {
    const { page } = await show('<p id="there">text</p>');
    const element = page.locator('iframe');
    assert.equal(await element.getAttribute('sandbox'), 'allow-scripts');
    const srcdoc = (await element.getAttribute('srcdoc')) ?? '';
    assert.ok(srcdoc.indexOf('Content-Security-Policy') < srcdoc.indexOf('<script'));
    assert.doesNotMatch(srcdoc.slice(0, srcdoc.indexOf('<script>') + 8), /nonce/);
    const frame = await innerFrame(page);
    await frame.waitForSelector('#there');
    assert.equal(await frame.evaluate(() => window.origin), 'null');
  });
});

async function innerFrame(page: Page): Promise<Frame> {
  const handle = await page.waitForSelector('iframe', { state: 'attached' });
  const frame = await handle.contentFrame();
  assert.ok(frame);
  return frame;
}
