"""Predict both kernels of every pair and tell their order: `python -m benchmarks.clock.pairs --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from app.screen import say, table
from benchmarks.clock.devices import target_of
from benchmarks.clock.judged import PointLab
from benchmarks.clock.pairs.ordered import Ordered, ordered
from benchmarks.clock.pairs.pair import CHOICES, FOLDER, load_pairs
from records.errors import ScientistError, UsageError

COLUMNS = ["pair", "fast us", "slow us", "ratio", "at least", "order", "fast: bound by", "slow: bound by"]


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command's options."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.clock.pairs", description=__doc__)
    options.add_argument("--folder", type=Path, default=FOLDER, help="another folder of pairs, laid out as this one")
    options.add_argument("--only", action="append", metavar="NAME", help="this pair alone")
    options.add_argument("--check", action="store_true", help="judge the kernels on their tasks' tests as well")
    return options


def main(words: Sequence[str]) -> int:
    """Predict and print a row as soon as it is there, then a summary; the exit status says whether a kernel failed."""
    options = parser().parse_args(words)
    pairs = [pair for pair in load_pairs(options.folder) if not options.only or pair.name in options.only]
    if not pairs:
        raise UsageError("no pair has that name")
    labs = {device: PointLab(target_of(device)) for device in {pair.device for pair in pairs}}
    rows = []
    for pair in pairs:
        lab = labs[pair.device]
        for which in CHOICES if options.check else ():
            if fault := lab.fault_of(pair.prepared(which)):
                say(f"{pair.name}, {which}: {fault}")
        rows.append(ordered(lab, pair))
        say(f"{pair.name}: {rows[-1].order}")
    table(COLUMNS, [row.cells() for row in rows], right=[1, 2, 3, 4])
    say(summary(rows))
    return int(any(row.refusal for row in rows))


def summary(rows: Sequence[Ordered]) -> str:
    """Give how many pairs are in the right order, in the wrong one, tied, and without a time."""
    counts = {order: sum(row.order == order for row in rows) for order in ("right", "wrong", "tie", "refused")}
    return f"{len(rows)} pairs: " + ", ".join(f"{count} {order}" for order, count in counts.items() if count)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ScientistError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
