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
    """Verdicts of one group: given, not as they must be, not given although asked again and again."""

    given: int = 0
    wrong: int = 0
    absent: int = 0
    again: int = 0
    seconds: float = 0.0


def right_ones() -> list[Subject]:
    """List twins, each once, seeds and other right kernels."""
    found = {one.twin: Subject(f"twin of {one.name}", one.twin, one.task, True) for one in exploits("lab")}
    for name in SMALL:
        for path in (*(p for p in small(name).seeds if "h200" not in p.name), *right_kernels(name)):
            source = path.read_text(encoding="utf-8")
            found.setdefault(source, Subject(f"{name}: {path.stem}", source, small(name), True))
    return list(found.values())


def wrong_ones() -> list[Subject]:
    """List exploits that must be rejected, and mutants beyond the tolerance."""
    cheats = [
        Subject(one.name, one.source, one.task, False, tuple(one.tunables.items()))
        for one in exploits("lab")
        if one.expected["lab"].outcome == "rejected"
    ]
    faulty = [Subject(f"{m.task}: {m.name}", m.source, small(m.task), False) for m in mutants() if not m.survives]
    return [*cheats, *faulty]


def varied(source: str, number: int) -> str:
    """Return the same kernel as a text and a program that no cache knows."""
    own = f"static constexpr int variant_of_load = {number};  // one of many\n"
    return source.replace(INCLUDE, INCLUDE + own, 1) if INCLUDE in source else f"{source}\n// variant {number}\n"


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
        said = "accepted" if verdict.accepted else f"{verdict.findings[0].kind}: {verdict.findings[0].message}"
        say(f"not as it should be: {subject.name}: {said}")
    return {**row, "seconds": time.monotonic() - begun}


def tally_of(rows: Sequence[Row], *, is_right: bool) -> Tally:
    """Sum up one group."""
    mine = [row for row in rows if row["is_right"] == is_right]
    given = [row for row in mine if not row["absent"]]
    return Tally(
        given=len(given),
        wrong=sum(row["wrong"] for row in given),
        absent=len(mine) - len(given),
        again=sum(row["again"] for row in mine),
        seconds=sum(row["seconds"] for row in given),
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
    wanted = parser.parse_args()
    if wanted.stored:
        data = stored(FILE, "python3 -m benchmarks.under_load --workers 12 --out FOLDER")
        return shown(data["rows"], data["busy"], FILE)
    kept = KeptRows("under_load", [wanted.number, wanted.busy, wanted.seed], wanted.seconds)
    rows = collected(kept, wanted)
    if kept.is_whole and wanted.out:
        made = Collection(wanted.out, FILE, 0.0)
        made.about["device"] = described_machine()
        made.save({"busy": wanted.busy, "workers": wanted.workers, "rows": rows})
    return kept.code(shown(rows, wanted.busy))


def collected(kept: KeptRows, wanted: argparse.Namespace) -> list[Row]:
    """Collect the verdicts beside the busy processes."""
    settings, target, rng = load_settings(), load_target("mi300x"), random.Random(wanted.seed)
    toolchain, cache = find_toolchain(settings.cache_folder / "toolchain"), settings.cache_folder / "kernels"
    cores = settings.cores if wanted.workers == 1 else max(1, (os.cpu_count() or 1) // wanted.workers)
    judges = [LabEvaluator(toolchain, cache, target, seed, cores) for seed in range(max(4, wanted.workers))]
    judges[0].warm(lambda said: None)
    pairs = zip(*(chosen(group, wanted.number, rng) for group in (right_ones(), wrong_ones())), strict=True)
    steps = [
        (f"{number}: {one.name}", partial(judged, judges[number % len(judges)], one, secrets.randbits(30)))
        for number, pair in enumerate(pairs)
        for one in pair
    ]
    with busy(wanted.busy):
        return kept.collect(steps, wanted.workers)


def shown(rows: Sequence[Row], count: int, file: str = "") -> int:
    """Print the figures beside so many busy processes, and the file of stored rows."""
    tallies = (tally_of(rows, is_right=group) for group in (True, False))
    found = [replace(figure, stored=file) for figure in figures(*tallies)]
    return report(f"Verdicts beside {count} busy processes", found)


def figures(right: Tally, wrong: Tally) -> list[Figure]:
    """Give wrong verdicts of both groups, verdicts that were not given, and the wall time of one."""
    given = right.given + wrong.given
    asked = given + right.absent + wrong.absent
    seconds = (right.seconds + wrong.seconds) / max(1, given)
    return [
        Figure("under_load.right_refused", right.wrong, "kernels", "right kernels", right.given, "<= 0"),
        Figure("under_load.wrong_accepted", wrong.wrong, "kernels", "wrong kernels", wrong.given, "<= 0"),
        Figure("under_load.no_verdict", right.absent + wrong.absent, "kernels", "kernels", asked, "<= 0"),
        Figure("under_load.asked_again", right.again + wrong.again, "times", "verdicts", given),
        Figure("under_load.verdict", seconds, "s", "right kernels alone", right.seconds / max(1, right.given)),
    ]


if __name__ == "__main__":
    sys.exit(main())
