"""Campaigns with and without one part, seed by seed, and what the part gave: differences with intervals."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.run_request import RunRequest, new_run
from app.sandboxes import make_sandbox
from app.settings import Settings
from app.task_folders import open_task
from graph.schemes import SCHEMES
from records.errors import UsageError
from records.mean_interval import Difference, difference

if TYPE_CHECKING:
    from sandbox.answers import Remembered
    from tasks.task import Task

PARTS: Mapping[str, Mapping[str, float]] = {  # a part, and the limits that switch it off
    "exploration": {"explorations": 0},
    "tuner": {"tunings": 1},
    "answers": {"answers": 0},
    "attainable": {"attainable_fraction": 0},
    "causes": {"ablations": 0},
    "dispatch": {"dispatch": 0},
    "picks": {"picks": 1},
    "predictor": {"predictor": 0},
    "taxonomy": {"taxonomy": 0},
    **{f"beyond-{name}": limits for name, limits in SCHEMES.items()},
}
WITH: Mapping[str, Mapping[str, float]] = {"predictor": {"predictor": 1}}  # parts that a run has only when asked
HEADING = "| task | without | campaigns | slower without it, % | more kernels timed without it | command |"
_ROW = re.compile(r"^\| (?P<task>[^|]+) \| (?P<part>[^|]+) \|.*\|$", re.M)


@dataclass(frozen=True)
class Outcome:
    """The end of one campaign."""

    best_us: float
    timed: int  # kernels


@dataclass(frozen=True)
class Effect:
    """A part's effect on one task: what is lost without it."""

    task: str
    part: str
    campaigns: int
    slower_pct: Difference
    more_timed: Difference

    @property
    def plain(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def refuse_unknown(part: str) -> None:
    """UsageError for a part that there is not."""
    if part not in PARTS:
        raise UsageError(f"there is no part {part!r} to leave out; there are {', '.join(PARTS)}")


def effect(task: str, part: str, pairs: Sequence[tuple[Outcome, Outcome]]) -> Effect:
    """Compute the effect from pairs of outcomes, each with the part and without it, of one seed."""
    slower = [100.0 * (bare.best_us / full.best_us - 1.0) for full, bare in pairs]
    more = [float(bare.timed - full.timed) for full, bare in pairs]
    return Effect(task, part, len(pairs), difference(slower), difference(more))


def shared_answers(settings: Settings, target: str, path: Path) -> Remembered:
    """Return the lab, each question to which is asked once; the file may hold the answers of earlier comparisons."""
    from sandbox.answers import Remembered

    path.parent.mkdir(parents=True, exist_ok=True)
    return Remembered(make_sandbox(settings, target, "lab", 0), path)


@dataclass
class Campaigns:
    """Runs of the playbook in the lab, whose answers are shared by all of them and kept in a file."""

    settings: Settings
    task: str
    target: str
    shared: Remembered

    def compare(self, part: str, seeds: int, generations: int, tell: Callable[[str], None]) -> Effect:
        """Measure the effect of one part over so many seeds; each campaign is told as it ends."""
        refuse_unknown(part)
        if seeds < 2:
            raise UsageError("an interval needs two campaigns at least; give --seeds 2 or more")
        task, pairs = open_task(self.settings, self.task, self.target), []
        for seed in range(seeds):
            limits = ({"generations": generations, **more} for more in (WITH.get(part, {}), PARTS[part]))
            full, bare = (self._run(task, seed, chosen) for chosen in limits)
            tell(f"seed {seed}: {full.best_us:.4g} us, {full.timed} timed; without {bare.best_us:.4g}, {bare.timed}")
            pairs.append((full, bare))
        return effect(task.name, part, pairs)

    def _run(self, task: Task, seed: int, limits: Mapping[str, float]) -> Outcome:
        from agents.playbook.changes import Changes
        from agents.playbook.playbook import Playbook
        from app.wiring import assignment_of, limits_of
        from graph.context import Context
        from graph.doubles import ListedLiterature
        from graph.drive import drive
        from records.artefacts import ArtefactStore
        from records.ledger import Ledger

        request = RunRequest(self.task, self.target, "lab", "playbook", seed, limits=limits)
        run = new_run(self.settings, request, task)
        self.shared.forget_order()
        with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.db") as ledger:
            run_limits = limits_of(run.config)
            work = assignment_of(run, task, run_limits)
            context = Context(
                run=run,
                assignment=work,
                author=Playbook(seed, explores=run_limits.explorations > 0),
                sandbox=self.shared,
                literature=ListedLiterature(),
                ledger=ledger,
                artefacts=ArtefactStore(Path(folder) / "artefacts", ledger),
                limits=run_limits,
                changes=Changes(work),
            )
            drive(context, Path(folder) / "checkpoint.db", max_concurrency=1)
            times = [a.geomean_us for a in ledger.attempts(run.id) if a.status == "accepted" and a.geomean_us]
        return Outcome(min(times), len(self.shared.timed))


def page_with(page: str, effect: Effect, command: str) -> str:
    """Put the row of this effect into the page, in place of an earlier one of the same task and part."""
    slower, more = effect.slower_pct.text, effect.more_timed.text
    cells = (effect.task, effect.part, str(effect.campaigns), slower, more, f"`{command}`")
    rows = {(m["task"], m["part"]): m.group() for m in _ROW.finditer(page.partition(HEADING)[2])}
    rows[(effect.task, effect.part)] = f"| {' | '.join(cells)} |"
    before = page.partition(HEADING)[0]
    return "\n".join([f"{before}{HEADING}", "|---|---|--:|--:|--:|---|", *(rows[key] for key in sorted(rows))]) + "\n"
