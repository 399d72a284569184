"""The regions of a model under one budget: a generation of one region's run at a time, where the model gains most."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.model_applying import package_of
from app.model_tasks import TASKS, chosen_regions, tasks_of, write_tasks
from app.model_worth import RegionState, gain, next_region, rest_gain
from records.errors import UsageError
from records.model_scan import ModelScan, read_scan

if TYPE_CHECKING:
    from app.settings import Settings
    from records.experiment import Run
    from records.ledger import Ledger

LEAST_WALL_S = 1.0
LISTED = "tasks.json"


@dataclass(frozen=True)
class ModelRun:
    """All that somebody asks for."""

    scan: Path
    target: str = "mi300x"
    on: str = "auto"
    author: str | None = None
    budget_usd: float | None = None
    wall_s: float | None = None
    least_gain: float = 1.01  # of the model, below which the rest is not worth a generation
    picks: int = 3
    seed: int = 0
    out: Path | None = None  # of the package


@dataclass(frozen=True)
class ModelRunResult:
    """Where it stands, and why it goes no further."""

    states: tuple[RegionState, ...]
    reason: str
    gain: float
    rest: float


def run_model(settings: Settings, asked: ModelRun, say: Callable[[str], None]) -> ModelRunResult:
    """Drive generations until the budget is spent or the rest is worth too little; it goes on from the ledger."""
    make_tasks(settings, asked.scan, say)
    states, began, failed = regions_of(settings, asked), time.monotonic(), set[str]()
    while True:
        rest_worth, left_s = rest_gain(states), _left(asked.wall_s, time.monotonic() - began)
        left_usd = _left(asked.budget_usd, sum(state.usd for state in states))
        chosen = next_region(states)
        reason = _end(asked, rest_worth, left_s, left_usd, chosen)
        if chosen is None or reason:
            return ModelRunResult(states, reason, gain(states), rest_worth)
        say(f"{', '.join(chosen.regions)}: a generation more; the rest is worth {rest_worth:.3f}x")
        try:
            _generation(settings, asked, chosen, left_usd, left_s)
        except UsageError as error:
            say(f"{', '.join(chosen.regions)} goes no further: {error}")
            failed.add(chosen.task)
        after = regions_of(settings, asked)
        if not any(a.task == chosen.task and len(a.fractions) > len(chosen.fractions) for a in after):
            failed.add(chosen.task)  # it met a limit of its own, or nothing was verified
        states = tuple(replace(state, is_ended=state.task in failed) for state in after)


def make_tasks(settings: Settings, folder: Path, say: Callable[[str], None]) -> None:
    """Make the tasks of the regions that may gain something, where nobody has; those that are there stay."""
    task_folder, scan = folder / TASKS, read_scan(folder)
    if (task_folder / LISTED).is_file():
        return
    regions, tasks = chosen_regions(scan, [], None), []
    task_folder.mkdir(exist_ok=True)
    for task in tasks_of(settings, folder, regions, task_folder):
        tasks.append(task)
        say(f"{task.region}: {task.folder or f'no task: {task.reason}'}")
    write_tasks(task_folder / LISTED, tasks)


def _left(limit: float | None, used: float) -> float | None:
    return None if limit is None else limit - used


def _end(asked: ModelRun, rest: float, left_s: float | None, left_usd: float | None, chosen: RegionState | None) -> str:
    """Say why it ends here; empty where it goes on."""
    if chosen is None:
        return "no region has a gap left that a run can close"
    if rest < asked.least_gain:
        return f"the rest is worth {rest:.3f}x of the model, less than the {asked.least_gain:.3f}x asked for"
    if left_s is not None and left_s < LEAST_WALL_S:
        return "the time is spent"
    return "the money is spent" if left_usd is not None and left_usd <= 0 else ""


def regions_of(settings: Settings, asked: ModelRun) -> tuple[RegionState, ...]:
    """Read tasks and runs of the scan; UsageError where it has no task."""
    from app.wiring import open_records

    scan = read_scan(asked.scan)
    tasks = _tasks(asked.scan, scan)
    ledger, _ = open_records(settings, create=True)
    with ledger:
        runs = {run.task: run for run in ledger.runs() if run.target == asked.target and run.status != "failed"}
        return tuple(_state(ledger, scan, folder, names, runs.get(str(folder))) for folder, names in tasks.items())


def _tasks(folder: Path, scan: ModelScan) -> dict[Path, tuple[str, ...]]:
    """Map the folder of each task to the regions that it serves."""
    names = defaultdict[Path, list[str]](list)
    listed = folder / TASKS / LISTED
    if listed.is_file():
        for row in json.loads(listed.read_text(encoding="utf-8")):
            if row["task"]:
                task_folder = folder / TASKS / Path(row["task"]).name  # wherever the scan's folder is now
                names[task_folder.resolve()].append(row["region"])
    for region in scan.regions:
        own_folder = (folder / TASKS / region.name).resolve()
        if (own_folder / "task.toml").is_file() and region.name not in names[own_folder]:
            names[own_folder].append(region.name)
    tasks = {
        task_folder: tuple(regions)
        for task_folder, regions in names.items()
        if regions and (task_folder / "task.toml").is_file()
    }
    if not tasks:
        raise UsageError(
            f"{folder} has no task: kernel-scientist model tasks {folder} --region NAME makes one of a region that you "
            "name"
        )
    return tasks


def _state(ledger: Ledger, scan: ModelScan, task: Path, names: tuple[str, ...], run: Run | None) -> RegionState:
    regions = [region for region in scan.regions if region.name in names]
    share = sum(region.share for region in regions)
    roofline = sum(region.share / region.gap for region in regions if region.gap)
    state = RegionState(names, str(task), share, share / roofline if roofline else 0.0)
    if run is None:
        return state
    from app.continuing import last_begun

    spend = ledger.spend(run.id)
    fractions = _fractions(ledger, run, last_begun(ledger, run.id))
    return replace(state, run=run.id, fractions=fractions, usd=spend.usd, seconds=_seconds(ledger, run))


def _fractions(ledger: Ledger, run: Run, last: int) -> tuple[float, ...]:
    """Compute the share of the roofline with its launch that the best kernel reaches after each generation."""
    from graph.population import attainable_fraction
    from page.leaders import leaders

    attempts, reached = ledger.attempts(run.id), list[float]()
    for generation in range(last + 1):
        leading = leaders([a for a in attempts if a.generation <= generation], ledger)
        evaluation = ledger.evaluation(leading[-1].evaluation_key) if leading else None
        reached.append(min(1.0, attainable_fraction(evaluation)) if evaluation is not None else 0.0)
    return tuple(reached)


def _seconds(ledger: Ledger, run: Run) -> float:
    """Add up what its evaluations took; sessions may have stood still between them."""
    evaluations = (ledger.evaluation(attempt.evaluation_key) for attempt in ledger.attempts(run.id))
    return sum(evaluation.seconds for evaluation in evaluations if evaluation is not None)


def _generation(
    settings: Settings, asked: ModelRun, state: RegionState, left_usd: float | None, left_s: float | None
) -> None:
    """Begin the region's run, or have it go on by one generation."""
    from app.run_request import RunRequest
    from app.session import open_session, resume_session

    usd = None if left_usd is None else state.usd + left_usd
    wall = {} if left_s is None else {"max_wall_seconds": left_s}
    if state.run:
        more = wall if usd is None else {**wall, "budget_usd": usd}
        session = resume_session(settings, state.run, len(state.fractions), more)
    else:
        request = RunRequest(
            state.task, asked.target, asked.on, asked.author, asked.seed, usd,
            {"generations": 1, "picks": asked.picks}, most=wall,
        )  # fmt: skip
        session = open_session(settings, request)
    with session:
        session.context.ledger.add_run(session.context.run)
        session.drive(lambda _: None)


def runs_to_apply(result: ModelRunResult) -> list[str]:
    """List the runs whose kernels are worth putting into the model."""
    return [state.run for state in result.states if state.run and state.gained > 0]


def write_package(settings: Settings, asked: ModelRun, runs: list[str]) -> Path:
    """Write the package with the kernels of these runs, over an earlier one."""
    from app.exporting import write_new

    task_folder, files, _ = package_of(settings, asked.scan, runs, asked.out, asked.target, asked.on, False)
    write_new({task_folder / path: content for path, content in files.items()}, force=True)
    return task_folder
