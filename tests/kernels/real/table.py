"""Write the tables of docs/public-kernels.md from the list: python -m tests.kernels.real.table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.kernels.real.real import rows

PAGE = Path(__file__).parents[3] / "docs" / "public-kernels.md"
START, END = "<!-- rows: python -m tests.kernels.real.table -->\n", "<!-- end of the rows -->"


def tables() -> str:
    """Counts by repository, and each refused kernel with its reason."""
    listed = rows()
    lines = [
        "| repository | licence | commit | kernels | accepted | with a planted fault |",
        "|---|---|---|--:|--:|--:|",
    ]
    known = Counter((row.repository, row.licence, row.commit[:12]) for row in listed)
    for (repository, licence, commit), count in sorted(known.items()):
        own = [row for row in listed if row.repository == repository]
        right, faults = sum(not row.refused for row in own), sum(row.fault is not None for row in own)
        lines.append(f"| {repository} | {licence} | {commit} | {count} | {right} | {faults} |")
    right, faults = sum(not row.refused for row in listed), sum(row.fault is not None for row in listed)
    lines.append(f"| all | | | {len(listed)} | {right} | {faults} |")
    lines += ["", "| refused | why |", "|---|---|"]
    lines += [f"| {row.repository}, {row.name} | {row.refused} |" for row in listed if row.refused]
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with the tables as they are now."""
    before, _, rest = text.partition(START)
    return f"{before}{START}{tables()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
