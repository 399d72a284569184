"""Write the lists of docs/public-kernels.md from the rows: python -m tests.kernels.real.table."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from tests.kernels.real.real import Row, rows

PAGE = Path(__file__).parents[3] / "docs" / "public-kernels.md"
START, END = "<!-- rows: python -m tests.kernels.real.table -->\n", "<!-- end of the rows -->"


def lists() -> str:
    """Counts by repository, and each refused kernel with its reason."""
    listed = rows()
    names = sorted({row.repository for row in listed})
    counts = [f"{name} {_counts([row for row in listed if row.repository == name])}" for name in names]
    lines = [f"Kernels listed, accepted, and with a planted fault: {_counts(listed)} of {len(names)} repositories.", ""]
    lines += textwrap.wrap(f"{'; '.join(counts)}.", 120, break_long_words=False, break_on_hyphens=False)
    lines += ["", "|refused|why|", "|---|---|"]
    lines += [f"|{row.repository}, {row.name}|{row.refused}|" for row in listed if row.refused]
    return "\n".join(lines) + "\n"


def _counts(some: Sequence[Row]) -> str:
    return f"{len(some)}/{sum(not row.refused for row in some)}/{sum(row.fault is not None for row in some)}"


def page(text: str) -> str:
    """The page with the lists as they are now."""
    before, _, rest = text.partition(START)
    return f"{before}{START}{lists()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
