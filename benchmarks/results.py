"""The figures of all benchmarks: kept in `data/results.json`, shown as the page `docs/results.md`."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.packed import located, read_text
from benchmarks.registry import Benchmark
from records.files import write_whole

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "benchmarks" / "data" / "results.json"
PAGE = ROOT / "docs" / "results.md"
KEYS = ("figure", "value", "unit", "anchor", "anchor_value", "ratio", "goal", "met", "stored")
HEAD = """# Results

`python -m benchmarks` writes this page: do not edit it. Each figure stands beside an anchor from the same run. A unit
or an anchor that a row does not name is that of the row above, at the top that of the head, or the anchor with which
the figure's name ends. *Goal* is what the value must reach; a figure without one is only observed. *Predicted* times
are the lab's.

```
python -m benchmarks                  # all that this machine can run; some MINUTES minutes on two quiet cores
python -m benchmarks --fast           # those under a minute
python -m benchmarks --stored         # those that print times stored from a GPU
python -m benchmarks --only startup   # those named
python -m benchmarks --openevolve PY  # with the OpenEvolve of that interpreter beside loop_rate
python -m benchmarks --check          # is every benchmark on this page?
python -m benchmarks --page           # write the page again, run nothing
```
"""


@dataclass(frozen=True)
class Record:
    """The last figures of one benchmark, with the machine and the day they are from."""

    name: str
    machine: str
    date: str
    figures: tuple[Mapping[str, Any], ...]  # lines as `Figure.line` prints them


def figures_in(output: str) -> tuple[Mapping[str, Any], ...]:
    """Read the figure lines of a benchmark's standard output; every other line is for people."""
    figures = []
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        try:
            plain = json.loads(line)
        except json.JSONDecodeError:
            continue
        if set(plain) == set(KEYS):
            figures.append({key: None if plain[key] != plain[key] else plain[key] for key in KEYS})  # NaN is not JSON
    return tuple(figures)


def load(path: Path = STORE) -> dict[str, Record]:
    """Read the records by name; none where the file does not exist yet."""
    if not path.is_file():
        return {}
    plain = json.loads(path.read_text(encoding="utf-8"))
    return {name: Record(name, r["machine"], r["date"], tuple(r["figures"])) for name, r in plain.items()}


def save(records: Iterable[Record], path: Path = STORE) -> None:
    """Write all records, a figure a line so that a change reads well."""
    parts = []
    for record in records:
        plain = asdict(record)
        lines = ",\n".join(f"   {json.dumps(figure, ensure_ascii=False)}" for figure in plain["figures"])
        parts.append(
            f' "{record.name}": {{\n  "machine": {json.dumps(record.machine)},\n  "date": "{record.date}",\n'
            f'  "figures": [\n{lines}\n  ]\n }}'
        )
    write_whole(path, ("{\n" + ",\n".join(parts) + "\n}\n").encode(), is_public=True)


def number(value: float) -> str:
    """Write four significant digits without an exponent: 0.000064, 27.8, 10,700."""
    text = f"{float(f'{value:.4g}'):,.10f}"
    return text.rstrip("0").rstrip(".")


def row(figure: Mapping[str, Any], unit: str = "", anchor: str = "") -> str:
    """Write one figure as one row of the table; the unit and the anchor of these names are not named again."""
    value, beside = number(figure["value"]), number(figure["anchor_value"])
    goal = figure["goal"].replace(" ", "")
    cells = (
        f"`{figure['figure']}`",
        f"{value} {'' if figure['unit'] == unit else figure['unit']}".strip(),
        beside if figure["anchor"] == anchor or names_anchor(figure) else f"{figure['anchor']}: {beside}",
        f"**missed**: {goal}" if figure["met"] is False else goal,
    )
    return bars(cells)


def names_anchor(figure: Mapping[str, Any]) -> bool:
    """Tell whether a figure's name ends with its anchor's: `search.transpose.hill_climb`."""
    return str(figure["figure"]).endswith("." + str(figure["anchor"]).replace(" ", "_"))


def rows(figures: Sequence[Mapping[str, Any]], unit: str, anchor: str) -> Iterator[str]:
    """Write the rows of a table whose head has this unit and anchor: what a row shares with the one above is left out.

    Rows of one unit and one anchor stand together, those of the head first.
    """
    units = list(dict.fromkeys([unit, "", *(str(figure["unit"]) for figure in figures)]))
    anchors = list(dict.fromkeys([anchor, *(str(figure["anchor"]) for figure in figures if not names_anchor(figure))]))

    def place(figure: Mapping[str, Any]) -> tuple[int, int]:
        return units.index(figure["unit"]), 0 if names_anchor(figure) else anchors.index(figure["anchor"])

    for figure in sorted(figures, key=place):
        yield row(figure, unit, anchor)
        unit, anchor = figure["unit"], anchor if names_anchor(figure) else figure["anchor"]


def bars(cells: Iterable[str]) -> str:
    """Join cells to a row of a table in Markdown."""
    return "|" + "|".join(" " * bool(cell) + cell.replace("|", "\\|") for cell in cells).lstrip() + "|"


def usual(figures: Sequence[Mapping[str, Any]], key: str) -> str:
    """Give what more than half of several figures have as their `anchor` or `unit`; "" where there is none."""
    [(value, count)] = Counter(str(figure[key]) for figure in figures).most_common(1)
    return value if count > max(1, len(figures) / 2) else ""


def usual_unit(figures: Sequence[Mapping[str, Any]]) -> str:
    """Name the unit that heads the column of values; "" where a figure is a plain number."""
    return usual(figures, "unit") if all(figure["unit"] for figure in figures) else ""


def origin(file: str, folder: Path = STORE.parent) -> str:
    """Name the device and the day of a stored file, from its own account."""
    path = located(folder / file)
    about = json.loads(read_text(path))["about"]
    device = about.get("device") or about["nvidia_smi"].split(",")[0]
    name = device["name"] if isinstance(device, dict) else device.split(" / ")[0]
    return f"{name}, {about['date']} (`benchmarks/data/{path.name}`)"


def group(benchmark: Benchmark, record: Record | None) -> str:
    """Write the part of the page that belongs to one benchmark."""
    lines = [f"## {benchmark.title}", "", benchmark.shows, ""]
    if record is None:
        return "\n".join([*lines, f"Command: `{benchmark.command}`. Not measured yet."]) + "\n"
    stored = sorted({figure["stored"] for figure in record.figures if figure["stored"].endswith(".json")})
    source = "; ".join(map(origin, stored)) if stored else f"{record.machine}, {record.date}"
    anchor, unit = usual(record.figures, "anchor"), usual_unit(record.figures)
    head = bars(("figure", f"value, {unit}" if unit else "value", anchor or "anchor", "goal"))
    lines += [f"Command: `{benchmark.command}`, on {source}.", "", head]
    return "\n".join([*lines, "|---|--:|---|---|", *rows(record.figures, unit, anchor)]) + "\n"


def page(benchmarks: Sequence[Benchmark], records: Mapping[str, Record]) -> str:
    """Write the whole of docs/results.md."""
    minutes = 10 * math.ceil(sum(benchmark.minutes for benchmark in benchmarks if not benchmark.by_hand) / 10)
    return "\n".join(
        [
            HEAD.replace("MINUTES", str(minutes)),
            *(group(benchmark, records.get(benchmark.name)) for benchmark in benchmarks),
        ]
    )
