// Days of each month by kind of weather, as counts for other cards and as a stacked chart.
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const kinds = ['sun', 'fog', 'drizzle', 'rain', 'snow'];

export default function ({ inputs, log }) {
  const counts = {};
  for (const month of months) counts[month] = Object.fromEntries(kinds.map((kind) => [kind, 0]));
  for (const day of inputs.weather) counts[months[Number(day.date.slice(5, 7)) - 1]][day.weather]++;

  const values = months.flatMap((month) => kinds.map((kind) => ({ month, kind, days: counts[month][kind] })));
  log(`${inputs.weather.length} days counted`);
  return {
    counts,
    chart: {
      $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
      title: 'Kinds of weather, all four years',
      width: 'container',
      height: 280,
      data: { values },
      mark: { type: 'bar', tooltip: true },
      encoding: {
        x: { field: 'month', type: 'ordinal', sort: months, title: null },
        y: { field: 'days', type: 'quantitative', title: 'Days' },
        color: {
          field: 'kind',
          type: 'nominal',
          sort: kinds,
          title: null,
          scale: { domain: kinds, range: ['#e7ba52', '#c7c7c7', '#aec7e8', '#1f77b4', '#9467bd'] },
        },
      },
    },
  };
}
