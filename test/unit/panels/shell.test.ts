import assert from 'node:assert/strict';
import { shellHtml, shellPolicy, type ShellOptions } from '../../../extension/src/panels/shellHtml.ts';
import { mergeStatuses } from '../../../extension/src/panels/mergeStatuses.ts';
import { extensionOf, findOutput } from '../../../extension/src/panels/outputFile.ts';
import { pictureBytes, pictureName } from '../../../extension/src/panels/picture.ts';
import { singleFlight } from '../../../extension/src/panels/singleFlight.ts';
import { portTypes } from '../../../protocol/src/manifests.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { sampleCardRun, sampleOutput, sampleStatus } from '../../support/sampleViews.ts';

const options: ShellOptions = {
  kind: 'run',
  title: 'Run',
  cspSource: "'self' https://*.vscode-cdn.net",
  script: 'https://file.vscode-cdn.net/dist/webviews/run.js',
  styleUri: 'https://file.vscode-cdn.net/dist/webviews/run.css',
  scriptNonce: 'scriptNonce',
  styleNonce: 'styleNonce',
  frameScriptHash: 'aGFzaA==',
};

function directives(policy: string): Map<string, string> {
  return new Map(
    policy.split('; ').map((part) => [part.split(' ')[0] ?? '', part.split(' ').slice(1).join(' ')]),
  );
}

describe('The policy of a shell', () => {
  for (const kind of ['canvas', 'run', 'page'] as const) {
    it(`[VIEW-01] ${kind}: nothing is fetched, framed or submitted, and text never becomes markup by itself`, () => {
      const policy = directives(shellPolicy({ ...options, kind }));
      assert.equal(policy.get('default-src'), "'none'");
      assert.equal(policy.get('frame-src'), "'none'");
      assert.equal(policy.get('form-action'), "'none'");
      assert.equal(policy.get('base-uri'), "'none'");
      assert.equal(policy.get('require-trusted-types-for'), "'script'");
      assert.equal(policy.has('connect-src'), false);
      assert.doesNotMatch(policy.get('script-src') ?? '', /unsafe-eval|https?:|\*/);
      assert.doesNotMatch(policy.get('img-src') ?? '', /https?:|\*/);
    });
  }

  it('[VIEW-01] allows inline scripts only where no nonce can be borrowed, and a nonce only where there are none', () => {
    const source = (kind: ShellOptions['kind']) =>
      directives(shellPolicy({ ...options, kind })).get('script-src');
    assert.equal(source('canvas'), "'nonce-scriptNonce'");
    assert.equal(source('run'), "'nonce-scriptNonce' 'sha256-aGFzaA==' blob:");
    assert.equal(source('page'), "'unsafe-inline' blob:");
  });

  it('takes no directive from an odd address, and no markup from a title', () => {
    const html = shellHtml({
      ...options,
      cspSource: 'https://x; script-src *, y',
      title: '</title><script>1</script>',
      script: 'https://x/"><script>1</script>',
    });
    assert.equal(html.match(/<script/g)?.length, 1);
    assert.equal(
      directives(shellPolicy({ ...options, cspSource: 'https://x; connect-src *' })).has('connect-src'),
      false,
    );
  });

  it('refuses a relay script that would end its element', () => {
    assert.throws(() => shellHtml({ ...options, kind: 'page', script: 'x = "</script>"' }));
  });
});

describe('A picture from a frame', () => {
  const svg = (inner: string) =>
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`).toString('base64');

  it('is kept where it is one', () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);
    assert.deepEqual(pictureBytes('png', png.toString('base64')), png);
    const drawn =
      '<defs><clipPath id="c"/></defs><g clip-path="url(#c)"><path d="M0,0"/><use xlink:href="#c"/><text>on=1 a</text></g>';
    assert.ok(pictureBytes('svg', svg(drawn)).length > 0);
  });

  const refused: readonly string[] = [
    '<script>1</script>',
    '<g onclick="1"/>',
    '<a href="javascript:1">x</a>',
    '<a href="java&#115;cript:1">x</a>',
    '<a href="java&#x09;script&colon;1">x</a>',
    '<image href="https://x.example/"/>',
    '<use href="https://x.example/#a"/>',
    '<foreignObject><p/></foreignObject>',
    '<style>@import "https://x"</style>',
    '<rect style="fill:url(https://x)"/>',
    '<animate attributeName="href" to="x"/>',
    '<svg:script>1</svg:script>',
  ];
  for (const inner of refused) {
    it(`[VIEW-04] is refused with ${inner}`, () => {
      assert.throws(
        () => pictureBytes('svg', svg(inner)),
        (error) => error instanceof UserError,
      );
    });
  }

  it('is refused where it is something else', () => {
    for (const [format, text] of [
      ['png', '<svg/>'],
      ['svg', '<html>'],
      ['svg', ''],
    ] as const) {
      assert.throws(() => pictureBytes(format, Buffer.from(text).toString('base64')), UserError);
    }
  });

  it('gets a name that is one path component', () => {
    assert.equal(pictureName('card/../../x', 'png'), 'card-..-..-x.png');
    assert.equal(pictureName('...', 'svg'), 'view.svg');
  });
});

describe('What a page asks for', () => {
  it('[VIEW-02] is an output of the shown run or nothing', () => {
    const output = sampleOutput('out', 'json');
    const cards = [sampleCardRun('a', { outputs: [output] })];
    assert.equal(findOutput(cards, 'a', 'out'), output);
    for (const [card, port] of [
      ['a', '../x'],
      ['b', 'out'],
      ['__proto__', 'out'],
    ] as const) {
      assert.throws(
        () => findOutput(cards, card, port),
        (error) => error instanceof UserError && error.code === 'not-found',
      );
    }
  });

  it('has a file name for every type', () => {
    for (const type of portTypes) assert.match(extensionOf(type), /^(\.[a-z.]+)?$/);
  });

  it('is told in deltas, with a whole answer where those do not say all', () => {
    const cards = [sampleCardRun('a'), sampleCardRun('b')];
    const running = mergeStatuses(cards, [{ id: 'a', status: sampleStatus('running') }]);
    assert.equal(running.isComplete, true);
    assert.equal(running.all[1], cards[1]);
    assert.equal(mergeStatuses(cards, [{ id: 'a', status: sampleStatus('done') }]).isComplete, false);
    assert.equal(mergeStatuses(cards, [{ id: 'new', status: sampleStatus('running') }]).isComplete, false);
  });

  it('costs two rounds however often it is asked, and the last one is never missed', async () => {
    let rounds = 0;
    let release: () => void = () => undefined;
    const ask = singleFlight(async () => {
      rounds++;
      await new Promise<void>((resolve) => (release = resolve));
    });
    for (let count = 0; count < 5; count++) ask();
    assert.equal(rounds, 1);
    release();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(rounds, 2);
    release();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(rounds, 2);
    ask();
    assert.equal(rounds, 3);
  });
});
