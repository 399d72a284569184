"""The evidence for the lab's judge, all of it, spread over the cores of a large machine.

    python3 -m benchmarks.judge_evidence OUT [--seconds 540] [--repeats 140] [--trials 8]    collects
    python3 -m benchmarks.judge_evidence OUT --begun FILE                                    goes on where that ended
    python3 -m benchmarks.judge_evidence OUT --kinds exploit,twin,mutant                     those alone
    python -m benchmarks.judge_evidence                                                      what is stored

Every exploit and every honest twin by two seeds, mutants, faults, right kernels in many ways of writing, right kernels
judged again on new inputs, seeds confirmed as leading kernels are, errors planted in benchmark cases, and the whole
execution of each benchmark case, each by one thread. The collector needs what the lab
needs, pydantic, pydantic-settings and rich. Rates that were not met once in n trials are below 3/n with a confidence of
95 %, which is printed as the upper bound.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing import TimeoutError as TimeIsUp
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.collection import Collection, number, stored, upper_bound
from benchmarks.figure import Figure, report
from benchmarks.packed import read_text
from benchmarks.planted_errors import DEAR, HOSTS, KINDS, TARGET, judged
from benchmarks.processes import described_machine
from benchmarks.whole_cases import executed
from records.errors import ScientistError
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Patience
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task, task_names
from tests.kernels.exploits.exploits import FOLDER, Expected, complaint, exploits
from tests.kernels.faults.faults import cases, findings, is_found
from tests.kernels.honest.test_honest import CORPUS
from tests.kernels.mutants.mutants import SMALL, mutants, right_kernels, small
from tests.support.compiler_cache import COMPILED, toolchain

FILE = "judge_evidence_32_cores.json"
SEEDS = (1123, 77)
CONFIRMED, LEADING_S = 3, 40.0  # times that each seed is confirmed, each within so much processor time for its cases
WHOLE_S = 60.0  # of one execution; a longer one is estimated
AT_ONCE = 32  # jobs at the end of a collection that may not have ended
LEFT_S = 10.0  # before the end, when no more is waited for

Job = tuple[str, str, tuple[Any, ...]]
Row = dict[str, Any]


@cache
def evaluator(seed: int, patience: Patience | None = None) -> LabEvaluator:
    """Build one judge of a process, on one core."""
    return LabEvaluator(toolchain(), COMPILED, load_target(TARGET), seed, 1, patience=patience)


def _exploit(index: int, seed: int) -> Row:
    exploit = exploits("lab")[index]
    expected = exploit.expected["lab"]
    lab = evaluator(seed, Patience(deadline_s=1.0) if "timeout" in expected.kinds else None)
    prepared = lab.prepare(exploit.source, exploit.task, exploit.tunables or None)
    evaluation = lab.verify(prepared)
    if evaluation.verdict.accepted and expected.outcome == "rejected":
        evaluation = lab.confirm(prepared)
    return {"said": complaint(expected, evaluation)}


def _twin(index: int, seed: int) -> Row:
    exploit, lab = exploits("lab")[index], evaluator(seed)
    return {"said": complaint(Expected("defused"), lab.verify(lab.prepare(exploit.twin, exploit.task)))}


def _mutant(index: int) -> Row:
    mutant, lab = mutants()[index], evaluator(SEEDS[0])
    verdict = lab.verify(lab.prepare(mutant.source, small(mutant.task))).verdict
    return {"said": "was accepted" if verdict.accepted and not mutant.survives else ""}


def _fault(index: int) -> Row:
    faulty, twin = list(cases())[index]
    faults, none = findings(faulty), findings(twin)
    return {"said": "" if is_found(faulty, faults) and not none else f"{faults} {none}"}


def _honest(index: int) -> Row:
    path, lab = CORPUS[index], evaluator(SEEDS[0])
    name = path.stem.partition("@")[2]
    own_task = FOLDER / "tasks" / name
    task = load_task(own_task if own_task.exists() else name.removeprefix("shipped_"))
    evaluation = lab.benchmark(lab.prepare(path.read_text(encoding="utf-8"), task))
    return {"said": complaint(Expected("defused"), evaluation)}


def _again(salt: int, name: str, path: Path) -> Row:
    lab = evaluator(7)
    evaluation = lab.verify(lab.prepare(path.read_text(encoding="utf-8"), small(name, salt)))
    return {"said": complaint(Expected("defused"), evaluation)}


def _leading(name: str, path: Path, number: int) -> Row:
    """Confirm a seed as a kernel that leads is: all benchmark cases, and every family of inputs on them."""
    lab = evaluator(number, Patience(confirm_s=LEADING_S))
    evaluation = lab.confirm(lab.prepare(path.read_text(encoding="utf-8"), load_task(name, TARGET)))
    return {"said": complaint(Expected("defused"), evaluation)}


def _planted(name: str, kind: str, trial: int) -> Row:
    return {"said": "", "row": judged(evaluator(7), name, kind, trial)}


def _whole(name: str, index: int) -> Row:
    lab = MachineLab(toolchain(), COMPILED, load_target(TARGET), 1)
    return {"said": "", "row": executed(lab, COMPILED, name, load_task(name, TARGET).benchmarks[index], WHOLE_S)}


STEPS: dict[str, Callable[..., Row]] = {
    "exploit": _exploit,
    "twin": _twin,
    "mutant": _mutant,
    "fault": _fault,
    "honest": _honest,
    "again": _again,
    "leading": _leading,
    "planted": _planted,
    "whole": _whole,
}


def jobs(trials: int, repeats: int) -> list[Job]:
    """List all of them, the longest first."""
    corpus = exploits("lab")
    twins = [
        index for index, kernel in enumerate(corpus) if kernel.twin != kernel.task.seeds[0].read_text(encoding="utf-8")
    ]
    whole_jobs = [
        ("whole", f"{n} {index}", (n, index))
        for n in task_names()
        for index in range(len(load_task(n, TARGET).benchmarks))
    ]
    leading = [
        ("leading", f"{n} {path.stem} {index}", (n, path, index))
        for n in task_names()
        for path in load_task(n, TARGET).seeds
        for index in range(CONFIRMED)
    ]
    plan = [
        ("planted", f"{name}, {kind}, {index}", (name, kind, index))
        for name in HOSTS
        if name not in DEAR
        for kind in KINDS
        for index in range(trials)
    ]
    short_jobs: list[Job] = [
        *(("honest", path.stem, (index,)) for index, path in enumerate(CORPUS)),
        *(("mutant", f"{kernel.task}: {kernel.name}", (index,)) for index, kernel in enumerate(mutants())),
        *(("fault", faulty.id, (index,)) for index, (faulty, _) in enumerate(cases())),
        *(("exploit", kernel.name, (index, seed)) for index, kernel in enumerate(corpus) for seed in SEEDS),
        *(("twin", corpus[index].name, (index, seed)) for index in twins for seed in SEEDS),
        *(
            ("again", f"{name} {path.stem}", (salt, name, path))
            for name in SMALL
            for path in right_kernels(name)
            for salt in range(repeats)
        ),
    ]
    random.Random(5).shuffle(short_jobs)
    return [*whole_jobs, *leading, *plan, *short_jobs]


def done(job: Job) -> Row:
    """Return one job's row; what goes wrong in it is told, not raised."""
    kind, name, arguments = job
    try:
        row = STEPS[kind](*arguments)
    except (ScientistError, AssertionError, ValueError, OSError) as error:
        row = {"said": f"{type(error).__name__}: {error}"}
    return {"kind": kind, "name": name, **row}


def collect(words: Sequence[str]) -> int:
    """Run all there is time for, and write it."""
    if words[0].startswith("-"):
        sys.exit("name the folder for the data first: python3 -m benchmarks.judge_evidence OUT [--seconds 540] ...")
    c = Collection(Path(words[0]), FILE, number(words, "--seconds", 540))
    c.about["device"] = described_machine()
    toolchain()
    todo = jobs(int(number(words, "--trials", 8)), int(number(words, "--repeats", 140)))
    if "--kinds" in words:
        kinds = words[words.index("--kinds") + 1].split(",")
        if unknown := sorted(set(kinds) - set(STEPS)):
            sys.exit(f"--kinds knows {', '.join(STEPS)}, not {', '.join(unknown)}")
        todo = [job for job in todo if job[0] in kinds]
    begun: dict[str, Any] = {"given": {}, "wrong": [], "planted": [], "whole": []}
    if "--begun" in words:
        begun = json.loads(read_text(Path(words[words.index("--begun") + 1])))
    todo = todo[max(0, sum(begun["given"].values()) - AT_ONCE) :]
    rows, fork = list[Row](), get_context("fork")
    with fork.Pool(len(os.sched_getaffinity(0))) as pool:
        outcomes = pool.imap_unordered(done, todo, 1)
        while len(rows) < len(todo):
            try:
                rows.append(outcomes.next(timeout=max(0.1, c.left_s() - LEFT_S)))
            except TimeIsUp:
                break
            if rows[-1]["said"]:
                c.say(f"{rows[-1]['kind']} {rows[-1]['name']}: {rows[-1]['said']}")
    data = joined(begun, summary(rows))
    c.save(data)
    c.say(f"{len(rows)} of {len(todo)}")
    return report("What the lab's judge is measured by", figures(data))


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Give the data to store: how many of each kind, what was not as it should be, and the rows of those with some."""
    counts = Counter(row["kind"] for row in rows)
    return {
        "given": dict(sorted(counts.items())),
        "wrong": sorted([row["kind"], row["name"], row["said"]] for row in rows if row.get("said")),
        "planted": [row["row"] for row in rows if row["kind"] == "planted" and "row" in row],
        "whole": [row["row"] for row in rows if row["kind"] == "whole" and "row" in row],
    }


def joined(begun: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Join the data of two collections, one of which went on where the other ended."""
    lists = {name: [*begun[name], *more[name]] for name in ("wrong", "planted", "whole")}
    counts = Counter(begun["given"]) + Counter(more["given"])
    return {"given": dict(sorted(counts.items())), **lists, "wrong": sorted(lists["wrong"])}


def figures(data: dict[str, Any]) -> list[Figure]:
    """Give shares as they must be, what planted errors are found by, and the longest whole executions."""
    counts, wrong = data["given"], Counter(kind for kind, _, _ in data["wrong"])
    rows = [
        Figure(f"judge_evidence.{name}", wrong[kind], "verdicts", f"verdicts on {of}", counts[kind], "<= 0", FILE)
        for kind, name, of in (
            ("exploit", "exploits_not_as_expected", "kernels that cheat"),
            ("twin", "twins_refused", "their honest twins"),
            ("honest", "honest_refused", "right kernels in the ways that people write"),
            ("mutant", "mutants_accepted", "mutants"),
            ("fault", "faults_missed", "faulty kernels and their twins"),
            ("again", "right_refused", "right kernels on new inputs"),
            ("leading", "leading_refused", "right kernels that lead"),
        )
        if kind in counts
    ]
    if "again" in counts:
        bound = upper_bound(wrong["again"], counts["again"])
        rows.append(
            Figure("judge_evidence.upper_bound", bound, "of verdicts", "one in a thousand", 0.001, "<= 0.005", FILE)
        )
    for kind in KINDS if data["planted"] else ():
        mine = [row for row in data["planted"] if row["kind"] == kind]
        for step in ("verified", "confirmed"):
            name = f"judge_evidence.{step}.{kind.replace(' ', '_')}"
            rows.append(Figure(name, sum(row[step] for row in mine), "kernels", "wrong kernels", len(mine), "", FILE))
    for task in sorted({row["task"] for row in data["whole"]}):
        spent = [row["seconds"] for row in data["whole"] if row["task"] == task]
        anchor = f"all {len(spent)} cases"
        rows.append(Figure(f"judge_evidence.whole.{task}", max(spent), "s", anchor, sum(spent), "", FILE))
    return rows


def main(words: Sequence[str]) -> int:
    """Collect into a folder, or print what is stored."""
    if words:
        return collect(words)
    data = stored(FILE, "python3 -m benchmarks.judge_evidence OUT")
    for kind, name, reason in data["wrong"]:
        print(f"not as it should be: {kind} {name}: {reason}")
    return report("What the lab's judge is measured by", figures(data))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
