"""The laws of the judge's cases that refuse each stored wrong kernel: what a law is worth, and which nobody needs.

    python -m benchmarks.case_laws OUT [--jobs 2] [--trials 1] [--first 0] [--kernels NAME,NAME]    collects
    python -m benchmarks.case_laws                                                        the stored table

Each wrong kernel that the lab refuses meets the cases of every law of `sandbox/lab/cases_met.py`, one law after the
other, each until one of its cases is refused; what a listed test refuses needs no other law. Each trial has secrets of
its own. A law is worth the kernels that it refuses and no other law does.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

from benchmarks.collection import number
from benchmarks.packed import read_text
from benchmarks.planted_errors import TARGET
from records.errors import ScientistError
from sandbox.lab.cases_met import LAWS, CaseDraw, CaseLaw, CaseMet, refused
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Built, Judge, Patience
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.searched_case import searched
from sandbox.lab.session_inputs import SessionInputs
from sandbox.target import load_target
from tasks.task import Task
from tests.kernels.exploits.exploits import exploits
from tests.kernels.mutants.mutants import mutants, small
from tests.support.compiler_cache import COMPILED, toolchain

STORED = Path(__file__).parent / "data" / "case_laws.tsv"
LISTED = LAWS[0].name
SEARCHED = "searched"  # inputs made for the kernel, behind all laws
HASTY = Patience(deadline_s=2.0)  # of kernels that may never end

Kernel = tuple[str, Task, str, dict[str, int] | None, bool]  # name, task, source, tunables, may never end
Row = tuple[str, int, str]  # kernel, trial, law
KERNELS = list[Kernel]()  # set before the processes begin, which inherit it: a task cannot be sent


def wrong_kernels(names: Sequence[str]) -> list[Kernel]:
    """List the stored kernels that execution in the lab refuses, or those of these names."""
    kernels: list[Kernel] = [
        (row.name, row.task, row.source, row.tunables or None, "timeout" in row.expected["lab"].kinds)
        for row in exploits("lab")
        if row.expected["lab"].outcome == "rejected"
    ]
    kernels += [
        (f"{row.task}: {row.name}", small(row.task), row.source, None, False) for row in mutants() if not row.survives
    ]
    return sorted((row for row in kernels if not names or row[0] in names), key=lambda row: row[1].digest)


def laws_that_refuse(built: Built, inputs: SessionInputs, lab: MachineLab, patience: Patience) -> Iterator[str]:
    """Yield the names of the laws of which a case is refused; the listed tests alone where one of them is."""
    judge = Judge(lab, built, patience, listed=inputs.listed)
    draw = CaseDraw(judge, inputs, 1123)
    for law in LAWS:
        if _refuses(law, draw, judge):
            yield law.name
            if law.name == LISTED:
                return
    if searched(judge, inputs)[1]:
        yield SEARCHED


def _refuses(law: CaseLaw, draw: CaseDraw, judge: Judge) -> bool:
    return any(_is_refused(met, judge) for met in law.cases(draw))


def _is_refused(met: CaseMet, judge: Judge) -> bool:
    if refused(judge.built, load_target(TARGET), met.case):
        return True
    return bool(replace(met, judge=judge.alone()).run()[1])


def judged(job: tuple[int, tuple[int, ...]]) -> list[Row]:
    """Judge the kernels with these numbers, which share a task, in one trial."""
    trial, indices = job
    target, rows = load_target(TARGET), list[Row]()
    evaluator, lab = LabEvaluator(toolchain(), COMPILED, target, trial, 1), MachineLab(toolchain(), COMPILED, target, 1)
    inputs = SessionInputs(KERNELS[indices[0]][1], COMPILED)
    for index in indices:
        name, task, source, tunables, is_endless = KERNELS[index]
        try:
            built = evaluator.stages(evaluator.prepare(source, task, tunables)).program().built
            patience = HASTY if is_endless else Patience()
            laws = ["compile"] if built is None else list(laws_that_refuse(built, inputs, lab, patience))
        except (ScientistError, AssertionError, LookupError, ValueError, OSError) as error:
            laws = [f"error {type(error).__name__}"]
        rows += [(name, trial, law) for law in laws or ["none"]]
        print(f"{trial} {name}: {', '.join(laws) or 'none'}", flush=True)
    return rows


def worth(rows: Sequence[Row]) -> Mapping[str, tuple[int, int, list[str]]]:
    """Count by law the verdicts that refuse by it, and those that refuse by it alone, with their kernels' names."""
    laws_of = defaultdict[tuple[str, int], set[str]](set)
    for name, trial, law in rows:
        laws_of[name, trial].add(law)
    refusing = Counter(law for laws in laws_of.values() for law in laws)
    alone = defaultdict[str, list[str]](list)
    for (name, _), laws in laws_of.items():
        if len(laws) == 1:
            alone[next(iter(laws))].append(name)
    return {law: (count, len(alone[law]), sorted(set(alone[law]))) for law, count in refusing.items()}


def show(rows: Sequence[Row]) -> None:
    """Print the table of laws."""
    table = worth(rows)
    print(
        f"{len({(name, trial) for name, trial, _ in rows})} verdicts on {len({row[0] for row in rows})} wrong kernels"
    )
    print(f"{'law':20s} {'refuses':>8s} {'alone':>6s}  kernels that it alone refuses")
    for law in (*(law.name for law in LAWS), SEARCHED, *sorted(set(table) - {law.name for law in LAWS} - {SEARCHED})):
        count, alone, names = table.get(law, (0, 0, []))
        print(f"{law:20s} {count:8d} {alone:6d}  {', '.join(names[:6])}{' …' if len(names) > 6 else ''}")


def main(words: Sequence[str]) -> int:
    """Collect, or print the stored table."""
    if not words or words[0].startswith("--"):
        table = csv.reader(read_text(STORED).splitlines(), delimiter="\t")
        show([(row[0], int(row[1]), row[2]) for row in table])
        return 0
    names = words[words.index("--kernels") + 1].split(",") if "--kernels" in words else []
    toolchain()
    KERNELS.extend(wrong_kernels(names))
    trials = range(first := int(number(words, "--first", 0)), first + int(number(words, "--trials", 1)))
    groups = [tuple(group) for _, group in groupby(range(len(KERNELS)), lambda index: KERNELS[index][1].digest)]
    jobs = [
        (trial, group[start : start + 8]) for trial in trials for group in groups for start in range(0, len(group), 8)
    ]
    rows = list[Row]()
    with get_context("fork").Pool(int(number(words, "--jobs", 1)), maxtasksperchild=1) as pool:
        for judged_rows in pool.imap_unordered(judged, jobs, 1):
            rows += judged_rows
    with Path(words[0]).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows(sorted(rows))
    show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
