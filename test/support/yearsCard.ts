import type { ScriptedCall } from './providers/script.ts';

/** What a model saves for “a card that compares two years and plots it” in the sample project. */
export const yearsManifest = {
  version: 1,
  title: 'Two years',
  description: 'Compares the monthly mean temperature of two years.',
  runtime: 'python',
  entry: 'main.py',
  inputs: { weather: { type: 'table', from: 'load/weather' } },
  outputs: { chart: { type: 'vega-lite' } },
  params: {
    first: { type: 'integer', default: 2012, minimum: 2012, maximum: 2015 },
    second: { type: 'integer', default: 2015, minimum: 2012, maximum: 2015 },
  },
  limits: { seconds: 30, memoryMB: 256 },
  view: { output: 'chart' },
} as const;

const program = `"""Compares two years by the mean temperature of each month."""

from collections import defaultdict
from statistics import mean

from sallyport import inputs, outputs, params

years = [str(params["first"]), str(params["second"])]
found = defaultdict(list)
for row in inputs.table("weather"):
    if row["date"][:4] in years:
        found[row["date"][:4], int(row["date"][5:7])].append((float(row["temp_max"]) + float(row["temp_min"])) / 2)

values = [
    {"year": year, "month": month, "mean": round(mean(each), 1)} for (year, month), each in sorted(found.items())
]
outputs.json(
    "chart",
    {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": " and ".join(years),
        "width": "container",
        "height": 280,
        "data": {"values": values},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "month", "type": "ordinal", "title": "Month"},
            "y": {"field": "mean", "type": "quantitative", "title": "Mean (°C)"},
            "color": {"field": "year", "type": "nominal", "title": "Year"},
        },
    },
)
print(f"{len(values)} months of {' and '.join(years)}")
`;

export const saveYears: ScriptedCall = {
  name: 'project_save',
  args: { card: 'years', manifest: yearsManifest, files: [{ path: 'main.py', text: program }] },
};

/** The same card, asking for the network. */
export const saveYearsOnline: ScriptedCall = {
  name: 'project_save',
  args: {
    card: 'years',
    manifest: { ...yearsManifest, permissions: { network: ['api.open-meteo.com:443'] } },
  },
};
