"""What the change of the clock did to the winners of all shipped tasks: expected times, and the bounds ranked by before.

    python -m benchmarks.clock_winners            # the table of docs/clock.md and its figures, from stored times
    python -m benchmarks.clock_winners --after    # predicts by today's clock what is not stored of it
    python -m benchmarks.clock_winners --before   # asks the earlier clock for what is not stored; needs git

Each clock chooses the kernel of a task with its shortest time among the same candidates: the seeds, choices of their
tunables, and single moves of the playbook on the tuned seed. Times are stored under digests of the candidates, with a
digest of the lab that predicted them. A choice is worth what it gains by today's expected times.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clock_candidates import ClockCandidate, candidates, lab_tasks, shipped_key
from benchmarks.clock_times import AFTER, BEFORE, ClockTime, clock_digest, store_times, stored_times
from benchmarks.figure import Figure, report
from benchmarks.verdict_rate import ROOT, checkout
from records.errors import LabError
from sandbox.target import load_target

COMMIT = "37c6877d"  # the last commit that ranked by bounds
ERROR = 1.05  # kernels closer than this are equal to the search


@dataclass(frozen=True)
class TimedCandidate:
    """A candidate with the times of both clocks."""

    candidate: ClockCandidate
    before: ClockTime
    after: ClockTime

    @property
    def expected_us(self) -> float:
        """Time by today's clock; infinite where it refuses the candidate."""
        return math.inf if self.after.time_us is None else self.after.time_us

    @property
    def bound_rank(self) -> tuple[float, float]:
        """Order by the earlier clock: the bound, then what ordered candidates of one bound."""
        return (math.inf if self.before.time_us is None else self.before.time_us, self.before.rank_us or 0.0)


@dataclass(frozen=True)
class Winners:
    """The choices of both clocks for one task, and its tuned seed as it is shipped."""

    task: str
    before: TimedCandidate
    after: TimedCandidate
    seed: TimedCandidate

    @property
    def gain(self) -> float:
        """Expected time of the earlier choice over that of today's."""
        return self.before.expected_us / self.after.expected_us

    @property
    def seed_loss(self) -> float:
        """Expected time of the tuned seed over that of today's choice."""
        return self.seed.expected_us / self.after.expected_us


def timed(asked: Sequence[ClockCandidate], before: Path = BEFORE, after: Path = AFTER) -> list[TimedCandidate]:
    """Pair candidates with their stored times; LabError names the command where one is missing."""
    earlier, today = stored_times(before), stored_times(after)
    for option, known in (("--before", earlier), ("--after", today)):
        missing = [each for each in asked if each.key not in known]
        if missing:
            first = f"{missing[0].task} {missing[0].label}"
            raise LabError(f"{len(missing)} candidates have no stored time, the first is {first}; run {option}")
    return [TimedCandidate(each, earlier[each.key], today[each.key]) for each in asked]


def winners(some: Sequence[TimedCandidate], seed: str) -> Winners:
    """Choose by both clocks among the candidates of one task; `seed` is the key of its tuned seed."""
    task = some[0].candidate.task
    shipped = next(each for each in some if each.candidate.key == seed)
    earlier = min(some, key=lambda each: each.bound_rank)
    today = min(some, key=lambda each: each.expected_us)
    if math.inf in (shipped.expected_us, earlier.expected_us, earlier.bound_rank[0]):
        raise LabError(f"{task}: a clock refuses the tuned seed or the earlier choice")
    return Winners(task, earlier, today, shipped)


def table(tasks: Sequence[Winners]) -> Iterator[str]:
    """Give the table of docs/clock.md, a line a task."""
    yield "| task | choice before | bound then | expected | choice now | bound then | expected | gain | seed |"
    yield "|---|---|--:|--:|---|--:|--:|--:|--:|"
    for each in tasks:
        cells = [each.task]
        for choice in (each.before, each.after):
            bound = choice.before.time_us
            shown = "refused" if bound is None else f"{bound:.4g}"
            cells += [f"`{choice.candidate.label}`", shown, f"{choice.expected_us:.4g}"]
        yield f"| {' | '.join(cells)} | {each.gain:.2f} | {each.seed_loss:.2f} |"


def figures(tasks: Sequence[Winners]) -> list[Figure]:
    """Give how many choices changed, what that is worth, and how many tuned seeds lose by more than the error."""
    name, losing = "clock_winners", [each for each in tasks if each.seed_loss > ERROR]
    changed = [each for each in tasks if each.gain > ERROR]
    gain = statistics.geometric_mean([each.gain for each in tasks])
    return [
        Figure(f"{name}.changed", len(changed), "tasks with a faster choice", "tasks", len(tasks)),
        Figure(f"{name}.gain", gain, "times the expected speed", "the most of a task", max(e.gain for e in tasks)),
        Figure(f"{name}.seeds", len(losing), "tuned seeds that lose", "tasks", len(tasks), "<= 0"),
    ]


def predicted_by(some: Sequence[TimedCandidate]) -> str:
    """Say what the times were predicted by: digests of both labs and of the stored tables."""
    before, after = ({getattr(each, name).clock for each in some} for name in ("before", "after"))
    tables = hashlib.sha256(BEFORE.read_bytes() + AFTER.read_bytes()).hexdigest()[:12]
    today = "as it is" if after == {clock_digest(ROOT)} else "since changed: run --after"
    return f"labs {' '.join(sorted(before))} and {' '.join(sorted(after))} ({today}), stored times {tables}"


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", action="store_true", help="ask the earlier clock for what is not stored")
    parser.add_argument("--after", action="store_true", help="ask today's clock for what is not stored of it")
    return parser.parse_args(arguments)


def main() -> int:
    """Print the table and the figures, or store what a clock says."""
    chosen, target = options(sys.argv[1:]), load_target("mi300x")
    tasks: Mapping[str, list[ClockCandidate]] = {t.name: candidates(t, target) for t in lab_tasks(target)}
    asked = [each for some in tasks.values() for each in some]
    with tempfile.TemporaryDirectory() as folder:
        if chosen.before:
            store_times(BEFORE, asked, checkout(COMMIT, Path(folder)), Path(folder) / "cache")
        if chosen.after:
            store_times(AFTER, asked, ROOT, Path(folder) / "cache")
    if chosen.before or chosen.after:
        return 0
    pairs = timed(asked)
    chosen_by = [
        winners([each for each in pairs if each.candidate.task == name], shipped_key(some))
        for name, some in tasks.items()
    ]
    print("\n".join(table(chosen_by)))
    return report(f"Winners by bound and by expected time ({predicted_by(pairs)})", figures(chosen_by))


if __name__ == "__main__":
    sys.exit(main())
