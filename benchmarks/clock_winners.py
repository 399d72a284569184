"""Winners of all shipped tasks by two states of the clock: by bounds as before, and by expected times as today.

    python -m benchmarks.clock_winners            # the table and its figures, from stored times
    python -m benchmarks.clock_winners --after    # predicts by today's clock what is not stored of it
    python -m benchmarks.clock_winners --before   # asks the earlier clock for what is not stored; needs git

Each clock chooses the kernel of a task with its shortest time among the same candidates: the seeds, choices of their
tunables, and single moves of the playbook on the tuned seed. Times are stored under digests of the candidates, with a
digest of the lab that predicted them. A choice is worth what it gains by today's expected times.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.clock_candidates import ClockCandidate, candidates, lab_tasks, shipped_key
from benchmarks.clock_times import TimedCandidate, predicted_by, read_options, store_both, timed
from benchmarks.figure import Figure, report
from benchmarks.folders import DATA
from records.errors import LabError
from sandbox.target import load_target

BEFORE, AFTER = DATA / "clock_before.tsv", DATA / "clock_after.tsv"
PLAIN = "seed_tunable.hip"  # where a search begins: its defaults are plain, and are not tuned


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

    @property
    def is_plain(self) -> bool:
        """True where the seed's defaults are plain ones, to begin a search at."""
        return self.seed.candidate.seed == PLAIN


def winners(some: Sequence[TimedCandidate], seed: str) -> Winners:
    """Choose by both clocks among the candidates of one task; `seed` is the key of its tuned seed."""
    task = some[0].candidate.task
    shipped = next(candidate for candidate in some if candidate.candidate.key == seed)
    earlier = min(
        some, key=lambda candidate: (candidate.bound_us, candidate.before.rank_us or 0.0)
    )  # as its tuner ranked
    today = min(some, key=lambda candidate: candidate.expected_us)
    if math.inf in (shipped.expected_us, earlier.expected_us, earlier.bound_us):
        raise LabError(f"{task}: a clock refuses the tuned seed or the earlier choice")
    return Winners(task, earlier, today, shipped)


def table(tasks: Sequence[Winners]) -> Iterator[str]:
    """Give the table of tasks, a row each."""
    yield "| task | choice before | bound then | expected | choice now | bound then | expected | gain | seed |"
    yield "|---|---|--:|--:|---|--:|--:|--:|--:|"
    for winner in tasks:
        cells = [winner.task]
        for choice in (winner.before, winner.after):
            bound = choice.before.time_us
            bound_text = "refused" if bound is None else f"{bound:.4g}"
            cells += [f"`{choice.candidate.label}`", bound_text, f"{choice.expected_us:.4g}"]
        plain = " (plain)" if winner.is_plain else ""
        yield f"| {' | '.join(cells)} | {winner.gain:.2f} | {winner.seed_loss:.2f}{plain} |"


def figures(tasks: Sequence[Winners], error: float) -> list[Figure]:
    """Give how many choices changed, what that is worth, and how many tuned seeds lose."""
    name, losing = "clock_winners", [winner for winner in tasks if winner.seed_loss > 1 + error and not winner.is_plain]
    changed = [winner for winner in tasks if winner.gain > 1 + error]
    tuned = sum(not winner.is_plain for winner in tasks)
    gain = statistics.geometric_mean([winner.gain for winner in tasks])
    return [
        Figure(f"{name}.changed", len(changed), "tasks with a faster choice", "tasks", len(tasks)),
        Figure(f"{name}.gain", gain, "times the expected speed", "the most of a task", max(e.gain for e in tasks)),
        Figure(f"{name}.seeds", len(losing), "tuned seeds that lose", "all tuned seeds", tuned, "<= 0"),
    ]


def main() -> int:
    """Print the table and the figures, or store what a clock says."""
    chosen, target = read_options(sys.argv[1:], __doc__), load_target("mi300x")
    tasks: Mapping[str, list[ClockCandidate]] = {t.name: candidates(t, target) for t in lab_tasks(target)}
    every_candidate = [candidate for some in tasks.values() for candidate in some]
    if chosen.before or chosen.after:
        store_both((BEFORE if chosen.before else None, AFTER if chosen.after else None), every_candidate)
        return 0
    pairs = timed(every_candidate, BEFORE, AFTER)
    choices = [
        winners([candidate for candidate in pairs if candidate.candidate.task == name], shipped_key(some))
        for name, some in tasks.items()
    ]
    print("\n".join(table(choices)))
    title = f"Winners by bound and by expected time ({predicted_by(pairs, (BEFORE, AFTER))})"
    return report(title, figures(choices, target.clock["error"]))


if __name__ == "__main__":
    sys.exit(main())
