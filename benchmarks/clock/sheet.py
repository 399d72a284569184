"""A table of compared points as it is stored: a row is written as soon as it is known."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from benchmarks.clock.compared import Compared
from benchmarks.clock.rows import write_dims

HEAD = ("family", "device", "dims", "label", "measured_us", "expected_us", "bound_us", "refusal")


class Sheet:
    """Rows of tab-separated cells, times in microseconds."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        self._rows.writerow(HEAD)

    def add(self, compared: Compared) -> None:
        """Write a row."""
        p, times = compared.point, (f"{compared.predicted_us:.3f}", f"{compared.bound_us:.3f}")
        self._rows.writerow([p.family, p.device, write_dims(p.dims), p.label, p.measured_us, *times, compared.refusal])
        self._file.flush()


@contextmanager
def sheet(path: Path) -> Iterator[Sheet]:
    """Open a new table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        yield Sheet(file)
