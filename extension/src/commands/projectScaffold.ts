/** The files of a first project by relative path: two js cards, which run on every platform, and a wire between them. */
export function projectScaffold(name: string): Readonly<Record<string, string>> {
  return {
    'sallyport.json': json({ version: 1, name, cards: ['cards/*'] }),
    'cards/throws/_card.json': json({
      version: 1,
      title: 'Throw two dice',
      description: 'Counts the sums of many throws. The same seed gives the same throws.',
      runtime: 'js',
      entry: 'main.js',
      outputs: { sums: { type: 'table' } },
      params: {
        throws: { type: 'integer', default: 2000, minimum: 1, maximum: 100_000 },
        seed: { type: 'integer', default: 1 },
      },
    }),
    'cards/throws/main.js': throwsCode,
    'cards/chart/_card.json': json({
      version: 1,
      title: 'Chart of the sums',
      runtime: 'js',
      entry: 'main.js',
      inputs: { sums: { type: 'table', from: 'throws/sums' } },
      outputs: { chart: { type: 'vega-lite' } },
      view: { output: 'chart' },
    }),
    'cards/chart/main.js': chartCode,
  };
}

const throwsCode = `// A small generator of its own, so that a seed always gives the same throws.
export default function ({ params, log }) {
  let state = params.seed;
  const die = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 1 + Math.floor((state / 2 ** 32) * 6);
  };
  const counts = new Array(13).fill(0);
  for (let n = 0; n < params.throws; n++) counts[die() + die()]++;
  log(\`\${params.throws} throws counted\`);
  return { sums: counts.slice(2).map((count, at) => ({ sum: at + 2, count })) };
}
`;

const chartCode = `export default function ({ inputs }) {
  return {
    chart: {
      $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
      title: 'Sums of two dice',
      width: 'container',
      height: 260,
      data: { values: inputs.sums },
      mark: { type: 'bar', tooltip: true },
      encoding: {
        x: { field: 'sum', type: 'ordinal', title: 'Sum' },
        y: { field: 'count', type: 'quantitative', title: 'Throws' },
      },
    },
  };
}
`;

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
