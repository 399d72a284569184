"""Verdicts while 16 busy processes share the machine: right kernels refused, wrong ones accepted.

    python3 -m benchmarks.under_load [--number N] [--busy N] [--workers N] [--seconds N] [--out FOLDER]    collects
    python -m benchmarks.under_load --stored                                          prints what is stored

Right kernels are the honest twins of the exploits, the shipped seeds and the other right kernels of each task; wrong
ones are exploits that must be rejected and mutants. Each gets a constant and a comment of its own, so that no cache
knows it, and every round a judge with another seed. What verification accepts of the wrong ones is confirmed too. A
machine too busy for a verdict is asked again. An interrupted run goes on when it is started again. The collector needs
what the lab needs, pydantic, pydantic-settings and rich; on two cores it takes more than an hour.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.settings import load_settings
from benchmarks.collection import Collection, stored
from benchmarks.figure import Figure, report
from benchmarks.kept_rows import KeptRows, Row, say
from benchmarks.processes import described_machine
from records.errors import ScientistError
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target
from tasks.task import Task
from tests.kernels.exploits.exploits import exploits
from tests.kernels.mutants.mutants import SMALL, mutants, right_kernels, small

INCLUDE = "#include <hip/hip_runtime.h>\n"
FILE = "under_load_16_cores.json"
TRIES = 3
BUSY = "while True: pass"


@dataclass(frozen=True)
class Subject:
    """A kernel of which it is known whether it is right."""

    name: str
    source: str
    task: Task
    is_right: bool
    tunables: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Tally:
    """Verdicts of one group: all, those not as they must be, those not given in several tries; repeated tries."""

    verdicts: int = 0
    wrong: int = 0
    absent: int = 0
    repeats: int = 0
    seconds: float = 0.0


def right_ones() -> list[Subject]:
    """List twins, each once, seeds and other right kernels."""
    by_source = {
        exploit.twin: Subject(f"twin of {exploit.name}", exploit.twin, exploit.task, True)
        for exploit in exploits("lab")
    }
    for name in SMALL:
        for path in (*(p for p in small(name).seeds if "h200" not in p.name), *right_kernels(name)):
            source = path.read_text(encoding="utf-8")
            by_source.setdefault(source, Subject(f"{name}: {path.stem}", source, small(name), True))
    return list(by_source.values())


def wrong_ones() -> list[Subject]:
    """List exploits that must be rejected, and mutants beyond the tolerance."""
    cheats = [
        Subject(exploit.name, exploit.source, exploit.task, False, tuple(exploit.tunables.items()))
        for exploit in exploits("lab")
        if exploit.expected["lab"].outcome == "rejected"
    ]
    faulty = [Subject(f"{m.task}: {m.name}", m.source, small(m.task), False) for m in mutants() if not m.survives]
    return [*cheats, *faulty]


def varied(source: str, number: int) -> str:
    """Return the same kernel as a text and a program that no cache knows."""
    definition = f"static constexpr int variant_of_load = {number};  // one of many\n"
    return source.replace(INCLUDE, INCLUDE + definition, 1) if INCLUDE in source else f"{source}\n// variant {number}\n"


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes busy that compute and never wait."""
    running = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()


def judged(evaluator: LabEvaluator, subject: Subject, number: int) -> Row:
    """Give one verdict; what is not as it must be is told at once."""
    begun = time.monotonic()
    row: Row = {"name": subject.name, "is_right": subject.is_right, "again": 0, "wrong": 0, "absent": 0}
    for left in reversed(range(TRIES)):
        try:
            prepared = evaluator.prepare(varied(subject.source, number), subject.task, dict(subject.tunables) or None)
            verdict = evaluator.verify(prepared).verdict
            if verdict.accepted and not subject.is_right:
                verdict = evaluator.confirm(prepared).verdict  # as of any kernel that leads
        except ScientistError as error:
            if left:
                row["again"] += 1
                continue
            say(f"no verdict: {subject.name}: {error}")
            return {**row, "absent": 1, "seconds": 0.0}
        break
    if verdict.accepted != subject.is_right:
        row["wrong"] = 1
        reason = "accepted" if verdict.accepted else f"{verdict.findings[0].kind}: {verdict.findings[0].message}"
        say(f"not as it should be: {subject.name}: {reason}")
    return {**row, "seconds": time.monotonic() - begun}


def tally_of(rows: Sequence[Row], *, is_right: bool) -> Tally:
    """Sum up one group."""
    mine = [row for row in rows if row["is_right"] == is_right]
    with_verdict = [row for row in mine if not row["absent"]]
    return Tally(
        verdicts=len(with_verdict),
        wrong=sum(row["wrong"] for row in with_verdict),
        absent=len(mine) - len(with_verdict),
        repeats=sum(row["again"] for row in mine),
        seconds=sum(row["seconds"] for row in with_verdict),
    )


def chosen(subjects: Sequence[Subject], number: int, rng: random.Random) -> list[Subject]:
    """Draw so many of them in random order; all of them, and again from the first, where there are fewer."""
    order = rng.sample(subjects, len(subjects))
    return list(itertools.islice(itertools.cycle(order), number))


def main() -> int:
    """Judge both groups in turns, or take what is stored, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=200, metavar="N", help="right kernels, and as many wrong ones")
    parser.add_argument("--busy", type=int, default=16, metavar="N", help="busy processes")
    parser.add_argument("--seed", type=int, default=7, help="of the choice")
    parser.add_argument("--seconds", type=float, default=0.0, metavar="N", help="after which no more is begun; 0: none")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="judges side by side")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=f"where {FILE} is written")
    parser.add_argument("--stored", action="store_true", help="print what is stored, judge nothing")
    options = parser.parse_args()
    if options.stored:
        data = stored(FILE, "python3 -m benchmarks.under_load --workers 12 --out FOLDER")
        return shown(data["rows"], data["busy"], FILE)
    kept_rows = KeptRows("under_load", [options.number, options.busy, options.seed], options.seconds)
    rows = collected(kept_rows, options)
    if kept_rows.is_whole and options.out:
        collection = Collection(options.out, FILE, 0.0)
        collection.about["device"] = described_machine()
        collection.save({"busy": options.busy, "workers": options.workers, "rows": rows})
    return kept_rows.code(shown(rows, options.busy))


def collected(kept_rows: KeptRows, options: argparse.Namespace) -> list[Row]:
    """Collect the verdicts beside the busy processes."""
    settings, target, rng = load_settings(), load_target("mi300x"), random.Random(options.seed)
    toolchain, cache = find_toolchain(settings.cache_folder / "toolchain"), settings.cache_folder / "kernels"
    cores = settings.cores if options.workers == 1 else max(1, (os.cpu_count() or 1) // options.workers)
    judges = [LabEvaluator(toolchain, cache, target, seed, cores) for seed in range(max(4, options.workers))]
    judges[0].warm(lambda message: None)
    pairs = zip(*(chosen(group, options.number, rng) for group in (right_ones(), wrong_ones())), strict=True)
    steps = [
        (f"{number}: {subject.name}", partial(judged, judges[number % len(judges)], subject, secrets.randbits(30)))
        for number, pair in enumerate(pairs)
        for subject in pair
    ]
    with busy(options.busy):
        return kept_rows.collect(steps, options.workers)


def shown(rows: Sequence[Row], count: int, file: str = "") -> int:
    """Print the figures beside so many busy processes, and the file of stored rows."""
    tallies = (tally_of(rows, is_right=group) for group in (True, False))
    rows_of_figures = [replace(figure, stored=file) for figure in figures(*tallies)]
    return report(f"Verdicts beside {count} busy processes", rows_of_figures)


def figures(right: Tally, wrong: Tally) -> list[Figure]:
    """Give wrong verdicts of both groups, verdicts that were not given, and the wall time of one."""
    verdicts = right.verdicts + wrong.verdicts
    subjects = verdicts + right.absent + wrong.absent
    seconds = (right.seconds + wrong.seconds) / max(1, verdicts)
    return [
        Figure("under_load.right_refused", right.wrong, "kernels", "right kernels", right.verdicts, "<= 0"),
        Figure("under_load.wrong_accepted", wrong.wrong, "kernels", "wrong kernels", wrong.verdicts, "<= 0"),
        Figure("under_load.no_verdict", right.absent + wrong.absent, "kernels", "kernels", subjects, "<= 0"),
        Figure("under_load.asked_again", right.repeats + wrong.repeats, "times", "verdicts", verdicts),
        Figure("under_load.verdict", seconds, "s", "right kernels alone", right.seconds / max(1, right.verdicts)),
    ]


if __name__ == "__main__":
    sys.exit(main())
