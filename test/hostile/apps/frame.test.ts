import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { useBareDocument, useShells } from '../../support/useShells.ts';
import { appFrameOf, inApp, openAppShell, type OpenAppOptions } from '../../support/appShell.ts';
import { themes } from '../../support/themes.ts';
import { until } from '../../support/until.ts';
import { webviewFile } from '../../support/webviews.ts';

/** What an app in its frame can do to the shell, and what the shell does about an app that misbehaves. */
describe('The shell around an app', () => {
  const shells = useShells();
  const bare = useBareDocument();

  const show = (html: string, options: Partial<OpenAppOptions> = {}) =>
    openAppShell(shells.context, shells.shellUrl('appHost'), { html, ...options });

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
      document.body.dataset.out = String(out);
    </script>`;
  async function told(page: Page): Promise<string> {
    const frame = await appFrameOf(page);
    await frame.waitForFunction(() => document.querySelector('body[data-out]') !== null);
    return (await frame.evaluate(() => document.body.dataset['out'])) ?? '';
  }

  const reaches: readonly (readonly [string, string, string])[] = [
    ['M3: reads a variable of the shell', `() => parent.secret ?? parent.location.href`, 'kept'],
    ['M3: reads its storage', `() => typeof localStorage`, 'object'],
    ['M3: reads its cookies', `() => { document.cookie = 'a=b'; return document.cookie; }`, 'a=b'],
    ['M3: opens a database', `() => String(indexedDB.open('x') !== null)`, 'true'],
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
    ['asks VS Code itself', `() => typeof (parent.acquireVsCodeApi ?? parent.secret)`, 'string'],
    ['M16: reads the clipboard', `() => typeof parent.navigator.clipboard`, 'object'],
  ];
  for (const [title, code, reached] of reaches) {
    it(`[FRAME-02] ${title}: refused`, async () => {
      const { page } = await show(report(code));
      assert.match(await told(page), /^refused (SecurityError|TypeError)$/);
      assert.deepEqual(await page.evaluate(() => window.keys), []);
      assert.equal(await told(await showUnsealed(report(code))), reached);
    });
  }

  it('[FRAME-02] M16: no permission of the browser is there to be asked for', async () => {
    const { page } = await show('<p>text');
    const denied = await inApp<string[]>(
      page,
      `Promise.all([
        navigator.clipboard ? navigator.clipboard.readText().then(() => 'read', (e) => e.name) : 'NotAllowedError',
        new Promise((r) => navigator.geolocation.getCurrentPosition(() => r('read'), () => r('NotAllowedError'))),
        document.documentElement.requestFullscreen().then(() => 'read', () => 'NotAllowedError'),
      ])`,
    );
    assert.deepEqual(denied, ['NotAllowedError', 'NotAllowedError', 'NotAllowedError']);
  });

  it('[FRAME-02] M6: messages that an app forges to the shell’s window are not taken for the extension’s', async () => {
    const forged = `{ jsonrpc: '2.0', id: 1, result: { app: 'other', name: 'Forged', frameScript: 'forged', document: new ArrayBuffer(1) } }`;
    const { page, shell, opened } = await show(
      `<!doctype html><body><script>parent.postMessage(${forged}, '*');
      parent.postMessage({ jsonrpc: '2.0', method: 'appPage/reload', params: {} }, '*'); parent.postMessage('sent', '*');</script>`,
    );
    await page.waitForFunction(() => window.seen.includes('sent'));
    assert.equal(await page.locator('iframe').getAttribute('title'), 'App attack');
    assert.equal(opened(), 1);
    assert.deepEqual(shell.bad, []);
    // The control: from the extension's side the same message reloads the app.
    shell.channel.notify('appPage/reload', {});
    await page.waitForFunction(() => window.seen.filter((each) => each === 'sent').length === 2);
  });

  it('[FRAME-02] case 2: names and errors with markup are text', async () => {
    const { page } = await show(
      `<script>throw new Error('<img src=x onerror=parent.postMessage(1,"*")>')</script>`,
    );
    await page.getByText('The app reported an error').waitFor();
    assert.equal(await page.locator('.app-bar img').count(), 0);
    assert.match(await page.locator('.app-status').innerText(), /<img src=x/);
  });

  it('[FRAME-02] case 7: the frame has an opaque origin, the policy first and in its attribute, and no nonce', async () => {
    const { page } = await show('<p id="there">text</p>');
    const element = page.locator('iframe');
    assert.equal(await element.getAttribute('sandbox'), 'allow-scripts');
    assert.match((await element.getAttribute('csp')) ?? '', /^default-src 'none'/);
    assert.equal(await element.getAttribute('allow'), null);
    const srcdoc = (await element.getAttribute('srcdoc')) ?? '';
    assert.ok(srcdoc.indexOf('Content-Security-Policy') < srcdoc.indexOf('<script'));
    assert.doesNotMatch(srcdoc.slice(0, srcdoc.indexOf('<script>') + 8), /nonce/);
    assert.equal(await inApp(page, 'window.origin'), 'null');
    assert.doesNotMatch(await page.content(), /nonce="/);
  });

  it('[FRAME-01] case 10: a frame whose own probe finds it open is closed before it gets the app', async () => {
    const script = await webviewFile('appFrame.js');
    const open = script.replaceAll('https://probe.invalid/', 'data:,');
    assert.notEqual(open, script);
    const { page, problems } = await show('<script>parent.postMessage("ran", "*")</script>', {
      frameScript: open,
    });
    await page.getByText('Closed, because its seal is not whole on this computer').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
    assert.equal(await page.evaluate(() => window.seen.includes('ran')), false);
    assert.ok(problems.some(({ kind, text }) => kind === 'closed' && text.startsWith('network-open')));
  });

  it('[FRAME-03] M17: a busy loop does not stop the bar: the app can be stopped and started again', async () => {
    const { page, opened } = await show(
      `<!doctype html><body><script>parent.postMessage('busy', '*'); setTimeout(() => { for (;;); }, 200);</script>`,
    );
    await page.waitForFunction(() => window.seen.includes('busy'));
    await page.waitForFunction(
      () => {
        document.querySelector('iframe')?.dispatchEvent(new Event('pointerenter'));
        return document.querySelector('.app-bar')?.textContent.includes('This app does not answer.');
      },
      undefined,
      { polling: 200 },
    );
    // Not a click of the driver: it asks every frame, the hung one too.
    const press = (label: string) =>
      page.evaluate(
        (name) => [...document.querySelectorAll('button')].find((each) => each.textContent === name)?.click(),
        label,
      );
    await press('Stop App');
    await page.getByText('Stopped.').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
    await press('Start App');
    await page.waitForFunction(() => window.seen.filter((each) => each === 'busy').length === 2);
    assert.equal(opened(), 2);
    await press('Stop App');
  });

  it('[FRAME-03] after a crash of the frame’s process the bar is there, and says that the app does not answer', async () => {
    const { page } = await show('<p id="there">text</p>');
    const frame = await appFrameOf(page);
    await frame.waitForSelector('#there');
    // The driver takes a crashed frame for a crashed page and asks it nothing more, so the shell tells by its title.
    await page.evaluate(() => {
      setInterval(() => {
        document.querySelector('iframe')?.dispatchEvent(new Event('pointerenter'));
        document.title = document.querySelector('.app-status')?.textContent ?? '';
      }, 100);
    });
    const whole = await shells.browser.newBrowserCDPSession();
    const session = await shells.context.newCDPSession(frame);
    session.send('Page.crash').catch(() => undefined);
    await until(async () => {
      const { targetInfos } = await whole.send('Target.getTargets');
      return targetInfos.some(({ title }) => title.startsWith('This app does not answer.'));
    });
  });

  for (const [name, code] of [
    ['reloads itself', 'location.reload()'],
    ['goes to an empty page', `location = 'about:blank'`],
    ['replaces its document by another of its own', `location = 'about:srcdoc'`],
  ] as const) {
    it(`[FRAME-03] an app that ${name} is closed with words: it gets no second start without a probe`, async () => {
      const { page } = await show(
        `<!doctype html><body><script>setTimeout(() => { ${code}; }, 300);</script>`,
      );
      await page.getByText(/^Closed, because it (stopped working|tried to leave its frame)\.$/).waitFor();
      assert.equal(await page.locator('iframe').count(), 0);
    });
  }

  it('[FRAME-03] an app that floods the shell with calls is closed with words', async () => {
    const { page } = await show(
      `<!doctype html><body><script>for (let n = 0; n < 5000; n++) sallyport.files.quota().catch(() => 0);</script>`,
    );
    await page.getByText('Closed, because it sent too many messages.').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
  });

  it('[FRAME-02] an app does not get at the port by changing prototypes', async () => {
    const { page, passed } = await show(
      `<!doctype html><body><script>
        window.stolen = 0;
        for (const name of ['postMessage', 'start', 'addEventListener', 'close'])
          MessagePort.prototype[name] = new Proxy(MessagePort.prototype[name], {
            apply(target, port, args) { stolen++; return Reflect.apply(target, port, args); } });
        const told = sallyport.files.quota().then(() => parent.postMessage('stolen ' + stolen, '*'));
      </script>`,
      { answer: () => ({ usedBytes: 0, limitBytes: 1 }) },
    );
    await page.waitForFunction(() => window.seen.includes('stolen 0'));
    assert.equal(passed.length, 1);
  });

  for (const [name, code] of [
    ['location', `location = 'https://away.invalid/'`],
    ['a data address', `location = 'data:text/html,away'`],
    ['a blob', `location = URL.createObjectURL(new Blob(['away'], { type: 'text/html' }))`],
  ] as const) {
    it(`[FRAME-03] M7: an app that navigates itself to ${name} is closed with words, and logged`, async () => {
      const { page, problems } = await show(
        `<!doctype html><body><script>setTimeout(() => { ${code}; }, 300);</script>`,
      );
      await page.getByText('Closed, because it tried to leave its frame.').waitFor();
      assert.equal(await page.locator('iframe').count(), 0);
      assert.ok(problems.some(({ kind, text }) => kind === 'closed' && text.startsWith('left')));
    });
  }

  it('[FRAME-02] case 1: command, vscode, file, data and javascript links do nothing; a web link asks the person', async () => {
    const addresses = [
      'command:workbench.action.quit',
      'vscode://x/y',
      'vscode-resource://x/y',
      'file:///etc/passwd',
      'data:text/html,x',
      'javascript:parent.postMessage(1,"*")',
      'http:relative',
      '//x.invalid/',
    ];
    const { page, passed } = await show(
      [...addresses, 'https://example.org/']
        .map((href, index) => `<p><a id="l${index}" href='${href}'>link</a></p>`)
        .join(''),
      { answer: () => ({ opened: true }) },
    );
    const frame = await appFrameOf(page);
    await frame.waitForSelector('#l8');
    for (let index = 0; index <= addresses.length; index++) {
      await frame.evaluate((id) => document.getElementById(id)?.click(), `l${index}`).catch(() => undefined);
    }
    await until(() => passed.length > 0);
    assert.deepEqual(passed, [
      { method: 'link.open', params: { url: 'https://example.org/' }, callId: undefined },
    ]);
    assert.deepEqual(await page.evaluate(() => window.seen), []);
    assert.equal(shells.context.pages().length, 1);
    assert.equal(await page.locator('iframe').count(), 1);
  });

  it('[FRAME-04] keys pressed in the app stay there; F6 leaves it for the bar, and Tab goes back in', async () => {
    const { page } = await show('<input id="field">');
    const frame = await appFrameOf(page);
    await frame.waitForSelector('#field');
    await frame.focus('#field');
    await page.keyboard.press('Control+Shift+P');
    await page.keyboard.press('a');
    assert.deepEqual(await page.evaluate(() => window.keys), []);
    assert.equal(
      await frame.evaluate(() => (document.getElementById('field') as HTMLInputElement).value),
      'a',
    );
    await page.keyboard.press('F6');
    await page.waitForFunction(() => document.activeElement?.textContent === 'Reload App');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => document.activeElement?.tagName === 'IFRAME');
  });

  it('[FRAME-04] an app that focuses itself while a person is elsewhere waits until they come', async () => {
    const { page } = await show(
      `<input id="field"><script>setInterval(() => { window.focus(); document.getElementById('field').focus(); }, 20)</script>`,
    );
    const frame = await appFrameOf(page);
    await frame.waitForSelector('#field');
    await page.getByRole('button', { name: 'Reload App' }).focus();
    await frame.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
    await page.keyboard.type('words');
    assert.equal(
      await frame.evaluate(() => (document.getElementById('field') as HTMLInputElement).value),
      '',
    );
    // The control: the same focus without the guard takes the keyboard away.
    await page.evaluate(() => document.querySelector('iframe')?.focus());
    await page.keyboard.type('here');
    await frame.waitForFunction(() =>
      (document.getElementById('field') as HTMLInputElement).value.endsWith('e'),
    );
    assert.equal(await page.locator('iframe').count(), 1);
  });

  it('[FRAME-04] one that finds another way to the keyboard is closed with words', async () => {
    await shells.context.addInitScript(() => {
      // The driver's own questions count as acts of a person, so the shell is told that there was none.
      if (window === window.top)
        Object.defineProperty(navigator, 'userActivation', { value: { isActive: false } });
    });
    const { page } = await show(
      `<form><input id="field" required></form><script>
        addEventListener('blur', () => setTimeout(() => document.querySelector('form').reportValidity(), 500));
      </script>`,
    );
    await page.waitForFunction(() => document.querySelector('.app-status')?.textContent === '');
    await page.evaluate(() => document.querySelector('iframe')?.focus());
    await page.getByRole('button', { name: 'Reload App' }).focus();
    await page.getByText('Closed, because it took the keyboard while you were elsewhere.').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
  });

  it('[FRAME-03] an app that floods the shell’s window is closed with words', async () => {
    const { page } = await show(
      `<script>setInterval(() => { for (let n = 0; n < 3000; n++) parent.postMessage('x', '*'); }, 100)</script>`,
    );
    await page.getByText('Closed, because it sent too many messages.').waitFor();
  });

  it('[FRAME-04] theme, fonts, contrast and motion are there before the first script, and follow a change', async () => {
    const { page } = await show(
      `<!doctype html><body><script>
        const look = () => [document.documentElement.dataset.vscodeThemeKind, getComputedStyle(document.body).color,
          getComputedStyle(document.documentElement).getPropertyValue('--vscode-font-family').trim() !== '', sallyport.theme.current.kind];
        window.first = look(); window.changes = []; sallyport.theme.onChange((theme) => changes.push(theme.kind + theme.reducedMotion));
      </script>`,
      { theme: 'light' },
    );
    const first = await inApp<unknown[]>(page, 'first');
    assert.equal(first[0], 'light');
    assert.equal(first[2], true);
    assert.equal(first[3], 'light');
    await page.evaluate((theme) => {
      document.body.className = `${theme.classes} vscode-reduce-motion`;
      for (const [name, value] of Object.entries(theme.variables))
        document.documentElement.style.setProperty(name, value);
    }, themes['high-contrast']);
    const frame = await appFrameOf(page);
    await frame.waitForFunction(
      () => document.documentElement.dataset['vscodeThemeKind'] === 'high-contrast',
    );
    assert.deepEqual((await inApp<string[]>(page, 'changes')).at(-1), 'high-contrasttrue');
    assert.match(await inApp<string>(page, 'document.documentElement.className'), /vscode-reduce-motion/);
    assert.notEqual(await inApp<string>(page, 'getComputedStyle(document.body).color'), first[1]);
  });

  it('an app’s own scripts run whole, in order, whatever words they hold', async () => {
    const { page } = await show(
      `<!doctype html><html><body><script>window.order = ['first']; const frames = [1, 2]; for (let i = 0; i<frames.length; i++) order.push(frames[i]);</script>
      <script type="module">const iframe = 3; if (2<iframe) window.order.push('module');</script>
      <script>order.push(document.currentScript !== null); document.addEventListener('DOMContentLoaded', () => order.push('ready'));</script>
      <form><input name="q" value="x"><button>Send</button></form>
      <script>document.querySelector('form').addEventListener('submit', (event) => { event.preventDefault(); order.push('sent'); });
      document.querySelector('button').click();</script></body></html>`,
    );
    await inApp(page, 'order');
    assert.deepEqual(await inApp(page, 'order'), ['first', 1, 2, true, 'sent', 'module', 'ready']);
  });
});
