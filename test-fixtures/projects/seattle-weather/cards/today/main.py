"""Puts the coming week beside what the record says of the same days."""

import json
import urllib.request
from statistics import mean

from sallyport import inputs, outputs

ADDRESS = (
    "https://api.open-meteo.com/v1/forecast"
    "?latitude=47.61&longitude=-122.33&daily=temperature_2m_max&timezone=America%2FLos_Angeles"
)
with urllib.request.urlopen(ADDRESS, timeout=15) as answer:
    daily = json.load(answer)["daily"]

record = inputs.table("weather")
values = []
for date, forecast in zip(daily["time"], daily["temperature_2m_max"]):
    same_day = [float(row["temp_max"]) for row in record if row["date"][5:] == date[5:]]
    values.append({"date": date, "what": "forecast", "high": forecast})
    if same_day:
        values.append({"date": date, "what": "mean of 2012–2015", "high": round(mean(same_day), 1)})

outputs.json(
    "comparison",
    {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": "The coming days and the record",
        "width": "container",
        "height": 280,
        "data": {"values": values},
        "mark": {"type": "line", "point": True, "tooltip": True},
        "encoding": {
            "x": {"field": "date", "type": "temporal", "title": None},
            "y": {"field": "high", "type": "quantitative", "title": "Highest temperature (°C)"},
            "color": {"field": "what", "type": "nominal", "title": None},
            "strokeDash": {"field": "what", "type": "nominal", "title": None},
        },
    },
)
