// Daily maxima as a heat map: one row for each year, one column for each day.
import { inputs, outputs } from 'sallyport';

const dayOf = (date) => (Date.parse(`${date}T00:00:00Z`) - Date.parse(`${date.slice(0, 4)}-01-01T00:00:00Z`)) / 86_400_000;
const years = new Map();
for (const row of inputs.table('weather')) {
  const year = row.date.slice(0, 4);
  if (!years.has(year)) years.set(year, Array(366).fill(null));
  years.get(year)[dayOf(row.date)] = Number(row.temp_max);
}

const names = [...years.keys()].sort();
outputs.json('calendar', {
  data: [
    {
      type: 'heatmap',
      z: names.map((name) => years.get(name)),
      y: names.map((name) => `${name} `),
      x: Array.from({ length: 366 }, (_, day) => new Date(Date.UTC(2012, 0, 1 + day)).toISOString().slice(0, 10)),
      colorscale: 'RdBu',
      reversescale: true,
      colorbar: { title: { text: '°C' } },
      hovertemplate: '%{x|%d %b} %{y}: %{z} °C<extra></extra>',
    },
  ],
  layout: { title: { text: 'Warmest hour of each day' }, xaxis: { tickformat: '%b' }, yaxis: { type: 'category' } },
});
console.log(`${names.length} years`);
