"""Means of one year by month: a table for other cards and a chart for people."""

from collections import defaultdict
from statistics import mean

from sallyport import inputs, outputs, params

year = params["year"]
months = defaultdict(list)
for row in inputs.table("weather"):
    if row["date"].startswith(f"{year}-"):
        months[row["date"][5:7]].append(row)

monthly = [
    {
        "month": f"{year}-{month}",
        "high": round(mean(float(row["temp_max"]) for row in rows), 1),
        "low": round(mean(float(row["temp_min"]) for row in rows), 1),
        "rain": round(sum(float(row["precipitation"]) for row in rows), 1),
    }
    for month, rows in sorted(months.items())
]
outputs.table("monthly", monthly)

month_axis = {"timeUnit": "month", "field": "month", "type": "temporal", "title": None, "axis": {"format": "%b"}}
outputs.json(
    "chart",
    {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": f"Temperature and rain by month, {year}",
        "width": "container",
        "height": 280,
        "data": {"values": monthly},
        "encoding": {"x": month_axis},
        "layer": [
            {
                "mark": {"type": "bar", "color": "#7da7c4", "opacity": 0.55, "tooltip": True},
                "encoding": {"y": {"field": "rain", "type": "quantitative", "title": "Rain (mm)"}},
            },
            {
                "mark": {"type": "area", "color": "#e07b39", "opacity": 0.45, "line": {"color": "#b4541a"}, "tooltip": True},
                "encoding": {
                    "y": {"field": "low", "type": "quantitative", "title": "Temperature (°C)"},
                    "y2": {"field": "high"},
                },
            },
        ],
        "resolve": {"scale": {"y": "independent"}},
    },
)
print(f"{len(monthly)} months of {year}")
