"""Words and rates of a run's page that are not in its records: from the settings, the task and the target."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.machine import describe
from app.settings import Settings
from app.task_folders import open_task
from page import Extras, RunReader, write_report
from page.sheets import Rates
from records.errors import ScientistError, UsageError
from records.experiment import Run

if TYPE_CHECKING:
    from sandbox.target import Target
    from tasks.task import Task


def publish(settings: Settings, ledger: Any, artefacts: Any, run: Run, path: Path) -> Path:
    """Write a run's page; data that are gone, such as a deleted task, are left out."""
    from app.disassembly import disassembler

    reader = RunReader(ledger, artefacts, run.id, extras_of(settings, run, describe(settings)))
    return write_report(reader, path, disassembler(settings, run, compiles=False))


def extras_of(settings: Settings, run: Run, environment: dict[str, str]) -> Extras:
    """Titles, rates and the texts to redact."""
    from sandbox.target import load_target

    words: dict[str, str] = {}
    task: Task | None = None
    target: Target | None = None
    with suppress(ScientistError):
        task = open_task(settings, run.task, run.target)
        words |= {"task_title": task.title, "task_description": task.description.strip()}
    with suppress(UsageError):
        target = load_target(run.target)
        words["target_title"] = target.title
    rates = _rates(task, target) if task and target else Rates()
    return Extras(**words, rates=rates, environment=environment, secrets=settings.secrets(), home=str(Path.home()))


def _rates(task: Task, target: Target) -> Rates:
    work = {case.name: task.work(case) for case in task.benchmarks}
    return Rates(
        task.peak,
        target.peaks_tflops.get(task.peak, 0.0),
        {name.removesuffix("_tb_s"): value for name, value in target.memory.items() if name.endswith("_tb_s")},
        {name: flops for name, (flops, _) in work.items()},
        {name: moved for name, (_, moved) in work.items()},
    )
