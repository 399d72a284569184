"""What the change of the clock did to the winners of all shipped tasks: expected times, and the bounds ranked by before.

    python -m benchmarks.clock_winners            # the table of docs/clock.md and its figures
    python -m benchmarks.clock_winners --before   # asks the earlier clock for what is not stored; needs git

Each clock chooses the kernel of a task with its shortest time among the same candidates: the seeds, choices of their
tunables, and single moves of the playbook on the tuned seed. Times of the earlier clock are stored, under digests of
the candidates; those of today's are predicted anew. A choice is worth what it gains by today's expected times.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.settings import load_settings
from benchmarks.clock_candidates import ClockCandidate, candidates, lab_tasks
from benchmarks.figure import Figure, report
from benchmarks.kept_rows import KeptRows, Row
from benchmarks.stored_data import DATA
from benchmarks.verdict_rate import ROOT, checkout
from records.errors import LabError
from records.files import write_whole
from sandbox.target import load_target

FILE = DATA / "clock_before.tsv"
BEFORE = "37c6877d"  # the last commit that ranked by bounds
CHILD = ROOT / "benchmarks" / "clock_estimates.py"
ERROR = 1.05  # kernels closer than this are equal to the search
FIELDS = ("task", "key", "time_us", "rank_us", "candidate")


@dataclass(frozen=True)
class Judged:
    """A candidate with the times of both clocks; None where a clock refused it."""

    candidate: ClockCandidate
    before_us: float | None
    before_rank_us: float | None  # orders candidates of one bound, as the tuner did
    expected_us: float | None


@dataclass(frozen=True)
class Winners:
    """The choices of both clocks for one task, and its tuned seed as it is shipped."""

    task: str
    before: Judged
    now: Judged
    seed: Judged

    @property
    def gain(self) -> float:
        """Expected time of the earlier choice over that of today's."""
        return _expected(self.before) / _expected(self.now)

    @property
    def seed_loss(self) -> float:
        """Expected time of the tuned seed over that of today's choice."""
        return _expected(self.seed) / _expected(self.now)


def _expected(judged: Judged) -> float:
    return math.inf if judged.expected_us is None else judged.expected_us


class EstimatingChild:
    """A process that predicts times by the clock of one checkout."""

    def __init__(self, root: Path, cache: Path) -> None:
        """Start it; its compiler is the one of this project's settings."""
        compiler = load_settings().cache_folder / "toolchain"
        argv = (sys.executable, "-P", str(CHILD), str(cache), str(compiler))
        environment = os.environ | {"PYTHONPATH": str(root)}
        self._process = subprocess.Popen(
            argv, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, candidate: ClockCandidate) -> Row:
        """Predict one candidate's times; LabError when the process has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"task": candidate.task, "source": candidate.source, "choice": dict(candidate.choice)}
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise LabError(f"the estimates ended at {candidate.label} of {candidate.task}; see their standard error")
        return dict(json.loads(line))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def stored_times() -> dict[str, tuple[float | None, float | None]]:
    """Read times of the earlier clock by the keys of candidates."""
    if not FILE.is_file():
        return {}
    rows = csv.DictReader(FILE.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    return {row["key"]: (_time(row["time_us"]), _time(row["rank_us"])) for row in rows}


def _time(text: str) -> float | None:
    return float(text) if text else None


def store(asked: Sequence[ClockCandidate]) -> None:
    """Ask the earlier clock for all candidates whose times are not stored, and store the times of all."""
    known = stored_times()
    with tempfile.TemporaryDirectory() as folder:
        child = EstimatingChild(checkout(BEFORE, Path(folder)), Path(folder) / "cache")
        for number, each in enumerate(asked):
            if each.key not in known:
                answer = child.ask(each)
                known[each.key] = answer["time_us"], answer["rank_us"]
                print(f"{number + 1} of {len(asked)}: {each.task} {each.label} {answer}", file=sys.stderr, flush=True)
        child.close()
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(FIELDS)
    for each in asked:
        times = ("" if time is None else f"{time:.6g}" for time in known[each.key])
        writer.writerow((each.task, each.key, *times, each.label))
    write_whole(FILE, text.getvalue().encode(), is_public=True)


def winners(judged: Sequence[Judged], seed: str) -> Winners:
    """Choose by both clocks among the candidates of one task; `seed` is the key of its tuned seed."""
    task = judged[0].candidate.task
    timed = [each for each in judged if each.expected_us is not None]
    shipped = next((each for each in timed if each.candidate.key == seed), None)
    ranked = [(each.before_us, each.before_rank_us or 0.0, each) for each in timed if each.before_us is not None]
    if shipped is None or not ranked:
        raise LabError(f"{task}: the tuned seed is refused, or nothing is stored; run --before")
    before = min(ranked, key=lambda row: row[:2])[2]
    return Winners(task, before, min(timed, key=_expected), shipped)


def table(found: Sequence[Winners]) -> Iterator[str]:
    """Give the table of docs/clock.md, a line a task."""
    yield "| task | choice before | bound then | expected | choice now | bound then | expected | gain | seed |"
    yield "|---|---|--:|--:|---|--:|--:|--:|--:|"
    for each in found:
        cells = [each.task]
        for one in (each.before, each.now):
            bound = "refused" if one.before_us is None else f"{one.before_us:.4g}"
            cells += [f"`{one.candidate.label}`", bound, f"{_expected(one):.4g}"]
        yield f"| {' | '.join(cells)} | {each.gain:.2f} | {each.seed_loss:.2f} |"


def figures(found: Sequence[Winners]) -> list[Figure]:
    """Give how many choices changed, what that is worth, and how many tuned seeds lose by more than the error."""
    name, lost = "clock_winners", [each for each in found if each.seed_loss > ERROR]
    changed = [each for each in found if each.gain > ERROR]
    gain = statistics.geometric_mean([each.gain for each in found])
    return [
        Figure(f"{name}.changed", len(changed), "tasks with a faster choice", "tasks", len(found)),
        Figure(f"{name}.gain", gain, "times the expected speed", "the most of a task", max(e.gain for e in found)),
        Figure(f"{name}.seeds", len(lost), "tuned seeds that lose", "tasks", len(found), "<= 0"),
    ]


def judged_now(asked: Sequence[ClockCandidate], kept: KeptRows, child: EstimatingChild) -> list[Judged]:
    """Predict all candidates by today's clock, beside their stored times."""
    known = stored_times()
    rows = kept.collect([(f"{each.task} {each.label}", partial(child.ask, each)) for each in asked])
    return [
        Judged(each, *known.get(each.key, (None, None)), row["time_us"])
        for each, row in zip(asked, rows, strict=False)
    ]


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", action="store_true", help="ask the earlier clock for what is not stored")
    return parser.parse_args(arguments)


def main() -> int:
    """Print the table and the figures, or store what the earlier clock says."""
    target = load_target("mi300x")
    tasks: Mapping[str, list[ClockCandidate]] = {t.name: candidates(t, target) for t in lab_tasks(target)}
    asked = [each for some in tasks.values() for each in some]
    if options(sys.argv[1:]).before:
        store(asked)
        return 0
    kept = KeptRows("clock_winners", [each.key for each in asked], 0.0)
    with tempfile.TemporaryDirectory() as folder:
        child = EstimatingChild(ROOT, Path(folder))
        judged = judged_now(asked, kept, child)
        child.close()
    if not kept.is_whole:
        return kept.code(1)
    return report("Winners by bound and by expected time", figures(_printed(tasks, judged)))


def _printed(tasks: Mapping[str, list[ClockCandidate]], judged: Sequence[Judged]) -> list[Winners]:
    found = []
    for name, some in tasks.items():
        seed = next(each for each in reversed(some) if not each.move and each.seed == some[-1].seed)
        first = next(each for each in some if each.seed == seed.seed)
        found.append(winners([each for each in judged if each.candidate.task == name], first.key))
    print("\n".join(table(found)))
    return found


if __name__ == "__main__":
    sys.exit(main())
