"""Everyday functions, as a person brings them: what the playbook alone makes of each, beside a textbook kernel.

    python -m benchmarks.everyday [--public DIR] [--only NAME ...] [--minutes N] [--before]
    python -m benchmarks.everyday --page

Each function is imported, searched with the playbook under the default limits, and judged in the lab with the commands
of a user; the interpreter needs PyTorch. DIR has clones of github.com/zjin-lcf/HeCBench, ROCm/rocm-examples,
karpathy/llm.c, NVIDIA/cuda-samples and yuhc/gpu-rodinia; nothing of them is stored here. A function whose outcome is of
today's text is not measured again, so the command may be interrupted. `--before` keeps the outcomes as those of an
earlier state. `--page` enters the stored figures in docs/results.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import enter, machine
from benchmarks.everyday.functions import FUNCTIONS, chosen
from benchmarks.everyday.outcome import BEFORE, FILE, NOW, Outcome, Timing, digest, keep, measured, stored
from benchmarks.figure import WIDE, Figure, report
from benchmarks.results import Record
from records.ranking import is_shorter

HIGH = 0.8  # of the roofline
AS_FAST, REACHED = 18, 14  # goals, of twenty functions
RATIO = "of the textbook kernel's time"


def as_fast(outcome: Outcome, *, within_error: bool) -> bool:
    """Tell whether the result is at least as fast as the textbook kernel, or equal within the clock's error."""
    error = outcome.time_error if within_error else 0.0
    result, textbook = Timing(outcome.result_us, error), Timing(outcome.textbook_us, error)
    return bool(outcome.result_us and outcome.textbook_us) and not is_shorter(textbook, result)


def reached(outcome: Outcome) -> bool:
    """Tell whether the result has the share of the roofline that is asked for."""
    return (outcome.share or 0.0) >= HIGH


def figures(now: Mapping[str, Outcome], before: Mapping[str, Outcome]) -> list[Figure]:
    """Give a figure for each function with both times, and the counts that goals are set for."""
    rows = [
        Figure(f"everyday.{name}", row.result_us, "us predicted", "the textbook kernel", row.textbook_us)
        for name, row in now.items()
        if row.result_us and row.textbook_us
    ]
    strict, equal = (
        [sum(as_fast(row, within_error=loose) for row in rows.values()) for rows in (now, before)]
        for loose in (False, True)
    )
    high, past_high = (sum(map(reached, rows.values())) for rows in (now, before))
    unit, anchor = f"of {len(FUNCTIONS)} functions", "before"
    return [
        *rows,
        Figure("everyday.as_fast", strict[0], unit, anchor, strict[1], f">= {AS_FAST}"),
        Figure("everyday.as_fast_or_equal", equal[0], unit, anchor, equal[1]),
        Figure("everyday.high_share", high, unit, anchor, past_high, f">= {REACHED}"),
    ]


def show(now: Mapping[str, Outcome], before: Mapping[str, Outcome]) -> None:
    """Print a row a function: times in us, the result's share of the roofline, or the sentence of a refusal."""
    headings = ("function", "brought as", "seed", "before", "result", "textbook", "ratio", "share", "textbook's", "")
    table = Table(*headings, title="Everyday functions: predicted times in us, shares of the lab's roofline")
    for function in FUNCTIONS:
        row, past = now.get(function.name, Outcome("")), before.get(function.name, Outcome(""))
        ratio = row.result_us / row.textbook_us if row.result_us and row.textbook_us else None
        numbers = (row.seed_us, past.result_us, row.result_us, row.textbook_us)
        shares = (ratio, row.share, row.textbook_share)
        cells = [*(f"{n:.1f}" if n else "-" for n in numbers), *(f"{n:.2f}" if n else "-" for n in shares)]
        table.add_row(function.name, function.group, *cells, row.fault[:120])
    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = WIDE
    console.print(table)
    print(f"at least as fast as the textbook kernel in {sum(as_fast(r, within_error=False) for r in now.values())}")
    print(f"at least {HIGH} of the roofline in {sum(map(reached, now.values()))}, each of {len(FUNCTIONS)}")


def main(words: Sequence[str]) -> int:
    """Measure what is not known of today's text, and report all that is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.everyday", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--public", type=Path, metavar="DIR", help="the folder with the clones")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", choices=[f.name for f in FUNCTIONS])
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no further function after so long")
    parser.add_argument("--before", action="store_true", help="keep the outcomes as those of an earlier state")
    parser.add_argument("--stored", action="store_true", help="measure nothing, report what is stored")
    parser.add_argument("--page", action="store_true", help="measure nothing, enter what is stored in docs/results.md")
    options = parser.parse_args(words)
    end, column = time.monotonic() + 60 * options.minutes, BEFORE if options.before else NOW
    with tempfile.TemporaryDirectory() as folder:
        for function in () if options.stored or options.page else chosen(options.only):
            last = stored()[column].get(function.name)
            if (last and last.digest == digest(function)) or (function.program and not options.public):
                continue
            if time.monotonic() > end:
                break
            outcome = measured(function, options.public and options.public.resolve(), Path(folder, function.name))
            keep(column, function.name, outcome)
            print(f"{function.name}: {outcome}", file=sys.stderr, flush=True)
    columns = stored()
    show(columns[NOW], columns[BEFORE])
    rows = figures(columns[NOW], columns[BEFORE])
    if options.page:
        lines = tuple(json.loads(row.line()) for row in rows)
        enter(Record("everyday", machine(), datetime.date.today().isoformat(), lines))
    return report(f"Everyday functions ({FILE.name})", rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
