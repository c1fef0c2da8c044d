"""Reads the daily record that lies beside this file, checks each row, and hands the table on."""

import csv
import datetime
import pathlib

from sallyport import outputs, progress

KINDS = {"drizzle", "fog", "rain", "snow", "sun"}
source = pathlib.Path(__file__).with_name("seattle-weather.csv")

rows = []
with source.open(newline="", encoding="utf-8") as file:
    for number, row in enumerate(csv.DictReader(file), start=2):
        datetime.date.fromisoformat(row["date"])
        if row["weather"] not in KINDS:
            raise SystemExit(f"{source.name}, line {number}: unknown kind of weather {row['weather']!r}")
        if float(row["temp_min"]) > float(row["temp_max"]):
            raise SystemExit(f"{source.name}, line {number}: the minimum is above the maximum")
        rows.append(row)
        if number % 365 == 0:
            progress(number / 1461, f"{number} days checked")

outputs.table("weather", rows)
print(f"{len(rows)} days from {rows[0]['date']} to {rows[-1]['date']}")
