import assert from 'node:assert/strict';
import type { Frame, Page } from 'playwright-core';
import { useShells } from '../../support/useShells.ts';
import { openRunShell } from '../../support/runShell.ts';
import { sampleCardRun, sampleOutput } from '../../support/sampleViews.ts';
import { startSink, type Sink } from '../../support/sink.ts';
import { until } from '../../support/until.ts';

type Chart = Record<string, unknown>;

const base: Chart = {
  height: 100,
  data: { values: [{ a: 1, b: 2, url: 'x' }] },
  mark: 'bar',
  encoding: { x: { field: 'a' }, y: { field: 'b' } },
};

/** Charts that try to load, link or run something. `to` is an address of the sink. */
const vega: readonly (readonly [string, (to: string) => Chart])[] = [
  ['data from an address', (to) => ({ ...base, data: { url: to } })],
  ['data from a file', () => ({ ...base, data: { url: 'file:///etc/passwd' } })],
  [
    'a topology from an address',
    (to) => ({ ...base, data: { url: to, format: { type: 'topojson', feature: 'x' } } }),
  ],
  [
    'a lookup in data from an address',
    (to) => ({
      ...base,
      transform: [{ lookup: 'a', from: { data: { url: to }, key: 'a', fields: ['b'] } }],
    }),
  ],
  ['an image mark', (to) => ({ ...base, mark: { type: 'image', url: to, width: 20, height: 20 } })],
  [
    'an image mark by field',
    (to) => ({
      ...base,
      data: { values: [{ a: 1, b: 2, url: to }] },
      mark: 'image',
      encoding: { x: { field: 'a' }, y: { field: 'b' }, url: { field: 'url' } },
    }),
  ],
  ['a link of a mark', (to) => ({ ...base, mark: { type: 'bar', href: to } })],
  [
    'a javascript link of a mark',
    () => ({ ...base, mark: { type: 'bar', href: 'javascript:parent.postMessage("ran","*")' } }),
  ],
  [
    'options for an embedding page',
    (to) => ({
      ...base,
      usermeta: { embedOptions: { loader: { baseURL: to }, ast: false, patch: to, editorUrl: to } },
    }),
  ],
  [
    'an expression that looks for the window',
    () => ({
      ...base,
      transform: [{ calculate: `constructor.constructor('parent.postMessage("ran","*")')()`, as: 'c' }],
    }),
  ],
  [
    'an expression that walks prototypes',
    () => ({
      ...base,
      transform: [
        {
          calculate: `datum['__proto__']['constructor']['constructor']('parent.postMessage("ran","*")')()`,
          as: 'c',
        },
      ],
    }),
  ],
  [
    'an expression through a known escape',
    () => ({
      ...base,
      transform: [
        {
          calculate: `replace('a', /a/, event ? event.view.constructor : toString.constructor('parent.postMessage("ran","*")'))`,
          as: 'c',
        },
      ],
    }),
  ],
  [
    'a signal with an expression',
    () => ({
      ...base,
      params: [{ name: 'p', expr: `this.constructor.constructor('parent.postMessage("ran","*")')()` }],
    }),
  ],
  [
    'a tooltip and a title of markup',
    () => ({
      ...base,
      title: '<img src=x onerror=parent.postMessage("ran","*")>',
      mark: { type: 'bar', tooltip: '<img src=x onerror=parent.postMessage("ran","*")>' },
    }),
  ],
  [
    'a font of an address',
    (to) => ({ ...base, config: { font: `x; src: url(${to})`, background: `url(${to})` } }),
  ],
];

const figure = { data: [{ x: [1, 2], y: [3, 1], type: 'scatter' }], layout: {} };
const plotly: readonly (readonly [string, (to: string) => Chart])[] = [
  [
    'a picture behind the chart',
    (to) => ({
      ...figure,
      layout: { images: [{ source: to, xref: 'paper', yref: 'paper', x: 0, y: 1, sizex: 1, sizey: 1 }] },
    }),
  ],
  ['an image trace', (to) => ({ data: [{ type: 'image', source: to }], layout: {} })],
  [
    'a map with a topology from elsewhere',
    (to) => ({
      data: [{ type: 'choropleth', locations: ['USA'], z: [1] }],
      layout: { geo: { scope: 'world' } },
      config: { topojsonURL: to },
    }),
  ],
  [
    'a map of given shapes from an address',
    (to) => ({
      data: [{ type: 'choropleth', geojson: to, locations: ['a'], z: [1] }],
    }),
  ],
  [
    'a tile map',
    (to) => ({
      data: [{ type: 'scattermap', lat: [1], lon: [1] }],
      layout: { map: { style: to, layers: [{ sourcetype: 'raster', source: [to] }] } },
    }),
  ],
  [
    'a link in a text',
    (to) => ({
      ...figure,
      layout: { annotations: [{ text: `<a href="${to}" target="_top">link</a>`, x: 1, y: 1 }] },
    }),
  ],
  [
    'markup in texts',
    () => ({
      data: [
        {
          x: [1],
          y: [1],
          name: '<img src=x onerror=parent.postMessage("ran","*")>',
          hovertemplate: '<img src=x onerror=parent.postMessage("ran","*")>',
          text: ['<svg onload=parent.postMessage("ran","*")>'],
        },
      ],
      layout: {
        title: {
          text: '<script>parent.postMessage("ran","*")</script><a href="javascript:parent.postMessage(1)">x</a>',
        },
      },
    }),
  ],
  [
    'a buttonful of code',
    () => ({
      ...figure,
      config: {
        modeBarButtonsToAdd: [{ name: 'x', click: 'parent.postMessage("ran","*")' }],
        plotlyServerURL: 'https://x.invalid',
      },
    }),
  ],
];

/** Those that load by themselves when a page just draws them; the others wait for a press or another library. */
const reachesUnsealed = new Set([
  'data from an address',
  'a lookup in data from an address',
  'an image mark',
  'an image mark by field',
  'a picture behind the chart',
  'a map of given shapes from an address',
]);
const unsealedLibraries = {
  'vega-lite': ['node_modules/vega/build/vega.min.js', 'node_modules/vega-lite/build/vega-lite.min.js'],
  plotly: ['node_modules/plotly.js-strict-dist-min/plotly-strict.min.js'],
};

interface Unsealed {
  readonly vega: {
    parse(spec: unknown): unknown;
    View: new (runtime: unknown, options: object) => { runAsync(): Promise<unknown> };
  };
  readonly vegaLite: { compile(spec: unknown): { spec: unknown } };
  readonly Plotly?: { newPlot(target: Element, data: unknown, layout: unknown): Promise<unknown> };
  readonly moduleName?: Unsealed['Plotly'];
}

async function drawUnsealed({ type, spec }: { type: string; spec: Chart }): Promise<void> {
  const { vega: library, vegaLite, Plotly, moduleName } = window as unknown as Unsealed;
  const container = document.body.appendChild(document.createElement('div'));
  if (type === 'plotly') await (Plotly ?? moduleName)?.newPlot(container, spec['data'], spec['layout']);
  else {
    const runtime = library.parse(vegaLite.compile(spec).spec);
    await new library.View(runtime, { renderer: 'svg', container }).runAsync();
  }
}

describe('Charts in sealed frames', () => {
  const shells = useShells();
  let sink: Sink;

  before(async () => {
    sink = await startSink();
  });
  after(() => sink.close());
  beforeEach(() => {
    sink.hits.length = 0;
  });

  async function draw(type: 'vega-lite' | 'plotly', chart: unknown): Promise<Page> {
    const page = await shells.context.newPage();
    await openRunShell(page, shells.shellUrl('run'), {
      cards: [sampleCardRun('chart', { outputs: [sampleOutput('out', type, true)] })],
      outputs: { 'chart/out': { type, content: typeof chart === 'string' ? chart : JSON.stringify(chart) } },
    });
    await page.waitForSelector('.sealed-box iframe', { state: 'attached' });
    await settled(page);
    return page;
  }

  for (const [type, charts] of [
    ['vega-lite', vega],
    ['plotly', plotly],
  ] as const) {
    for (const [name, chart] of charts) {
      it(`[VIEW-04] ${type}: ${name} loads and runs nothing`, async () => {
        const page = await draw(type, chart(`${sink.origin}/reached.json`));
        const frame = await chartFrame(page);
        for (const link of (await frame?.$$('a, .mark-rect path, path')) ?? []) {
          await link.dispatchEvent('click').catch(() => undefined);
        }
        await page.evaluate(() => fetch('/canvas.css').catch(() => undefined));
        assert.deepEqual(sink.hits, []);
        assert.deepEqual(await page.evaluate(() => window.seen), []);
        assert.equal(shells.context.pages().length, 1);
        assert.ok(page.url().endsWith('/shell/run'));
      });
    }
  }

  for (const [type, charts] of [
    ['vega-lite', vega],
    ['plotly', plotly],
  ] as const) {
    for (const [name, chart] of charts.filter(([each]) => reachesUnsealed.has(each))) {
      it(`control: ${type}: ${name} reaches the sink in a page without a seal`, async () => {
        const page = await shells.context.newPage();
        await page.goto(`${shells.origin}/canvas.css`);
        for (const path of unsealedLibraries[type]) await page.addScriptTag({ path });
        const spec = chart(`${sink.origin}/reached.json`);
        await page.evaluate(drawUnsealed, { type, spec }).catch(() => undefined);
        await until(() => sink.hits.some((hit) => hit.includes('reached')));
      });
    }
  }

  it('[VIEW-04] the sink is reached by the same address without a seal', async () => {
    const page = await shells.context.newPage();
    await page.goto(shells.origin + '/canvas.css');
    await page.evaluate(
      (to) => fetch(to, { mode: 'no-cors' }).catch(() => undefined),
      `${sink.origin}/reached.json`,
    );
    assert.deepEqual(sink.hits, ['/reached.json']);
  });

  it('draws an honest chart of each kind', async () => {
    for (const [type, chart] of [
      ['vega-lite', base],
      ['plotly', figure],
    ] as const) {
      const page = await draw(type, chart);
      const frame = await chartFrame(page);
      assert.ok((await frame?.$$('svg path'))?.length, type);
      await page.close();
    }
  });

  const broken: readonly (readonly ['vega-lite' | 'plotly', string])[] = [
    ['vega-lite', 'not json'],
    ['vega-lite', '[]'],
    ['vega-lite', '{"mark":{"type":"<img onerror=1>"}}'],
    ['plotly', '{"data":1}'],
    ['plotly', 'null'],
  ];
  for (const [type, content] of broken) {
    it(`says why ${type} cannot draw ${content}`, async () => {
      const page = await draw(type, content);
      await page.getByText('This result could not be drawn:').waitFor();
      await page.getByText('Open Again').waitFor();
    });
  }
});

async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const bar = document.querySelector('.sealed [role=status]');
    return bar !== null && bar.textContent !== 'Opening the view…';
  });
}

async function chartFrame(page: Page): Promise<Frame | null> {
  const handle = await page.$('.sealed-box iframe');
  return (await handle?.contentFrame()) ?? null;
}
