"""What a card needs to talk to Sallyport: its inputs, outputs, parameters, and a way to tell how far it is.

    from sallyport import inputs, outputs, params, progress

    rows = inputs.table("weather")                  # a list of dicts, all values text
    outputs.json("summary", {"days": len(rows), "year": params["year"]})

Only the standard library is used, and of it only what a call needs is loaded, because every card waits for that.
Without Sallyport around it, importing works and each call says what is missing.
"""

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pathlib
    from typing import Any, Iterable, Mapping, Optional, Sequence

__all__ = ["inputs", "outputs", "params", "progress"]


class _Ports:
    """The files of one side, each named after its port."""

    def __init__(self, variable: str) -> None:
        self._variable = variable

    def path(self, port: str) -> pathlib.Path:
        """Where the file or folder of a port is. For an output: where to write it."""
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", port):
            raise ValueError(f"not the name of a port: {port!r}")
        folder = os.environ.get(self._variable)
        if not folder:
            raise RuntimeError(f"{self._variable} is not set: this runs outside Sallyport")
        import pathlib

        return pathlib.Path(folder, port)


class _Inputs(_Ports):
    def __contains__(self, port: str) -> bool:
        """Whether anything is wired to an optional port: `"extra" in inputs`."""
        return self.path(port).exists()

    def bytes(self, port: str) -> bytes:
        return self.path(port).read_bytes()

    def text(self, port: str) -> str:
        return self.path(port).read_text(encoding="utf-8")

    def json(self, port: str) -> Any:
        return json.loads(self.text(port))

    def table(self, port: str) -> list[dict[str, str]]:
        """The rows of a CSV file by the names of its first line. Every value is text; a missing one is empty."""
        import csv

        with self.path(port).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, restval="", strict=True)
            rows = []
            for row in reader:
                if None in row:
                    raise ValueError(f"{port}, line {reader.line_num}: more values than columns")
                rows.append(row)
            return rows


class _Outputs(_Ports):
    def bytes(self, port: str, value: bytes) -> None:
        self.path(port).write_bytes(value)

    def text(self, port: str, value: str) -> None:
        self.path(port).write_text(value, encoding="utf-8", newline="")

    def json(self, port: str, value: Any) -> None:
        """Writes JSON. NaN and infinity are errors, because JSON has neither."""
        self.text(port, json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain))

    def table(
        self, port: str, rows: Iterable[Mapping[str, Any]], columns: Optional[Sequence[str]] = None
    ) -> None:
        """Writes CSV with a header. The columns are those of the first row unless named; `None` is left empty."""
        import csv

        records = getattr(rows, "to_dict", None)
        items = records("records") if callable(records) else list(rows)
        names = list(columns if columns is not None else items[0].keys() if items else [])
        with self.path(port).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            if names:
                writer.writeheader()
            writer.writerows(items)


def _plain(value: Any) -> Any:
    """Values of numpy and the like, as the plain values they stand for."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a value that JSON has")


def progress(fraction: float, text: str = "") -> None:
    """Shows how far the card is: a fraction from 0 to 1, and a few words. Never fails, and is silent elsewhere."""
    descriptor = os.environ.get("SALLYPORT_PROGRESS", "")
    if not descriptor.isdigit():
        return
    line = json.dumps({"fraction": min(1.0, max(0.0, float(fraction))), "text": str(text)[:200]})
    try:
        os.write(int(descriptor), line.encode() + b"\n")
    except OSError:
        pass


inputs = _Inputs("SALLYPORT_INPUTS")
outputs = _Outputs("SALLYPORT_OUTPUTS")
params: dict[str, Any] = json.loads(os.environ.get("SALLYPORT_PARAMS") or "{}")
