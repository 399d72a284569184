"""An author's way to a fast GEMM, judged by the bounds ranked by before and by expected times.

    python -m benchmarks.clock_campaign            # the table and its figures, from stored times
    python -m benchmarks.clock_campaign --after    # predicts by today's clock what is not stored of it
    python -m benchmarks.clock_campaign --before   # asks the earlier clock for what is not stored; needs git

`kernels/gemm_campaign/steps.toml` lists the steps, and says of each whether it is right on CDNA 3, and why. A step is
tried on the kernel that the right steps before it lead to, and a clock takes it where its time is shorter by more than
the clock's error; of bounds no error was known, and a thousandth was enough.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clock_candidates import ClockCandidate
from benchmarks.clock_times import TimedCandidate, predicted_by, read_options, store_both, timed
from benchmarks.figure import Figure, report
from benchmarks.folders import DATA
from benchmarks.verdict_rate import ROOT
from records.ranking import LEAST_GAIN
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task

FOLDER = ROOT / "benchmarks" / "kernels" / "gemm_campaign"
BEFORE, AFTER = DATA / "clock_campaign_before.tsv", DATA / "clock_campaign_after.tsv"


@dataclass(frozen=True)
class CampaignStep:
    """A change of tunables, and whether an author is right to keep it on CDNA 3."""

    name: str
    change: Mapping[str, int]
    take: bool
    why: str


@dataclass(frozen=True)
class TriedStep:
    """A step with the times of the kernel it is tried on and of the kernel it leads to, by both clocks."""

    step: CampaignStep
    base: TimedCandidate
    changed: TimedCandidate
    error: float

    @property
    def is_taken_now(self) -> bool:
        """True where the expected time is shorter by more than the clock's error."""
        return self.base.expected_us > self.changed.expected_us * (1 + self.error)

    @property
    def is_taken_before(self) -> bool:
        """True where the bound is lower by the least gain."""
        return self.base.bound_us >= self.changed.bound_us * (1 + LEAST_GAIN)


def load_steps(folder: Path = FOLDER) -> list[CampaignStep]:
    """Read the steps of a campaign in order."""
    text = (folder / "steps.toml").read_text(encoding="utf-8")
    return [CampaignStep(**row) for row in tomllib.loads(text)["step"]]


def tried_candidates(steps: Sequence[CampaignStep], folder: Path = FOLDER) -> Iterator[tuple[ClockCandidate, ...]]:
    """Give the kernel that each step is tried on and the kernel it leads to; right steps are kept."""
    source, task = (folder / "seed.hip").read_text(encoding="utf-8"), load_task(folder)
    choice: Mapping[str, int] = prepare(source, task).tunables
    for step in steps:
        choices = choice, {**choice, **step.change}
        relative = str(folder.relative_to(ROOT))
        yield tuple(ClockCandidate(task.name, "seed.hip", "", source, choice, relative) for choice in choices)
        choice = choices[step.take]


def table(tried: Sequence[TriedStep]) -> Iterator[str]:
    """Give the table of steps, a row each."""
    yield "| step | on CDNA 3 | bound | | expected time | | why |"
    yield "|---|---|--:|---|--:|---|---|"
    for row in tried:
        cells = [row.step.name, _decision(row.step.take)]
        for name, is_taken in (("bound_us", row.is_taken_before), ("expected_us", row.is_taken_now)):
            base, changed = getattr(row.base, name), getattr(row.changed, name)
            cells += [f"{base:.0f} → {changed:.0f}", _decision(is_taken)]
        yield f"| {' | '.join([*cells, row.step.why])} |"


def _decision(is_taken: bool) -> str:
    return "take" if is_taken else "leave"


def figures(tried: Sequence[TriedStep]) -> list[Figure]:
    """Give how many steps today's clock decides as CDNA 3 does, and the earlier one."""
    now = sum(row.is_taken_now == row.step.take for row in tried)
    before = sum(row.is_taken_before == row.step.take for row in tried)
    return [Figure("clock_campaign.right", now, "steps", "by the bound", before, f">= {len(tried)}")]


def main() -> int:
    """Print the table and the figures, or store what a clock says."""
    chosen, steps = read_options(sys.argv[1:], __doc__), load_steps()
    pairs = list(tried_candidates(steps))
    candidates = list({candidate.key: candidate for pair in pairs for candidate in pair}.values())
    if chosen.before or chosen.after:
        store_both((BEFORE if chosen.before else None, AFTER if chosen.after else None), candidates)
        return 0
    times = {candidate.candidate.key: candidate for candidate in timed(candidates, BEFORE, AFTER)}
    error = load_target("mi300x").clock["error"]
    tried = [
        TriedStep(step, times[base.key], times[changed.key], error)
        for step, (base, changed) in zip(steps, pairs, strict=True)
    ]
    print("\n".join(table(tried)))
    origin = predicted_by(list(times.values()), (BEFORE, AFTER))
    return report(f"Steps of a GEMM's author by bound and by expected time ({origin})", figures(tried))


if __name__ == "__main__":
    sys.exit(main())
