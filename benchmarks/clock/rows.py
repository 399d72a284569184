"""Measured rows: facts that others published, each with its source, in tab-separated tables of `rows/`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from records.errors import UsageError

ROWS = Path(__file__).parent / "rows"
CACHES = ("cold", "warm", "repeated")
COLUMNS = ("family", "device", "kernel", "dims", "dtype", "measured_us", "caches", "source", "commit", "how")


@dataclass(frozen=True)
class MeasuredRow:
    """One row: `kernel` is the family's own name of a kernel or configuration; dims as in "m=1024,n=1536,k=7168"."""

    family: str
    device: str
    kernel: str
    dims: Mapping[str, int]
    dtype: str
    measured_us: float
    caches: str  # cold, warm (after a call, on an idle stream) or repeated (calls one right behind the other)
    source: str
    commit: str
    how: str


def read_rows(path: Path) -> list[MeasuredRow]:
    """Read the rows of a table whose first line names the columns; lines that begin with # are remarks."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    header, *rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    if tuple(header) != COLUMNS:
        raise UsageError(f"{path} has other columns than {', '.join(COLUMNS)}")
    return [_row(path, row) for row in rows]


def _row(path: Path, cells: list[str]) -> MeasuredRow:
    if len(cells) != len(COLUMNS) or (by_column := dict(zip(COLUMNS, cells, strict=True)))["caches"] not in CACHES:
        raise UsageError(f"{path}: a row needs {len(COLUMNS)} cells and one of {', '.join(CACHES)} as caches: {cells}")
    return MeasuredRow(
        by_column["family"],
        by_column["device"],
        by_column["kernel"],
        read_dims(by_column["dims"]),
        by_column["dtype"],
        float(by_column["measured_us"]),
        by_column["caches"],
        by_column["source"],
        by_column["commit"],
        by_column["how"],
    )


def read_dims(text: str) -> dict[str, int]:
    """Read the sizes in "m=1024,n=1536"."""
    return {name: int(value) for name, _, value in (part.partition("=") for part in text.split(","))}


def write_dims(dims: Mapping[str, int]) -> str:
    """Write the text that `read_dims` reads."""
    return ",".join(f"{name}={value}" for name, value in dims.items())


def write_rows(path: Path, rows: Iterable[MeasuredRow], remarks: Iterable[str] = ()) -> None:
    """Write a table that `read_rows` reads, remarks first."""
    lines = [*(f"# {remark}" for remark in remarks), "\t".join(COLUMNS)]
    for r in rows:
        time = f"{r.measured_us:.10g}"
        cells = (r.family, r.device, r.kernel, write_dims(r.dims), r.dtype, time, r.caches, r.source, r.commit, r.how)
        lines.append("\t".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
