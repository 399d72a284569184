"""The lab's findings in the corpus of tests/lab: faults found at their line, and false alarms on their honest twins.

Run with `python -m benchmarks.lab_findings` from the root of the repository.
"""

from __future__ import annotations

import sys
from collections import Counter

from rich.console import Console
from rich.table import Table

from benchmarks.figure import Figure, report
from tests.kernels.faults.faults import cases, findings, is_found


def main() -> int:
    """Run every case, print a table by kind and two figures."""
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    missed: list[str] = []
    for faulty, twin in cases():
        total[faulty.kind] += 1
        if is_found(faulty, findings(faulty)):
            right[faulty.kind] += 1
        else:
            missed.append(faulty.id)
        if findings(twin):
            alarms[faulty.kind] += 1
            missed.append(twin.id)
    table = Table(title="faulty kernels and their honest twins, by kind")
    for heading in ("kind", "kernels", "found at its line", "false alarms on twins"):
        table.add_column(heading, justify="left" if heading == "kind" else "right")
    for kind in sorted(total):
        table.add_row(kind, str(total[kind]), str(right[kind]), str(alarms[kind]))
    Console(soft_wrap=True).print(table)
    for name in missed:
        print(f"not as it should be: {name}")
    count = sum(total.values())
    return report(
        "What the lab finds",
        (
            Figure("lab_findings.found", sum(right.values()), "kernels", "faulty kernels", count, f">= {count}"),
            Figure("lab_findings.false_alarms", sum(alarms.values()), "kernels", "honest twins", count, "<= 0"),
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
