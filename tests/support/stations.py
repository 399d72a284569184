"""Workers for tests: a bench whose evaluators believe comments, so that whole runs through a spool take a moment."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.author import Draft, Idea, Specimen, Step
from graph.context import Context, Limits
from graph.doubles import ScriptedAuthor, TableSandbox, table_context, table_task
from graph.drive import drive
from records.experiment import Run
from records.mechanism import MECHANISMS
from sandbox.remote.client import Post, Remote
from sandbox.remote.message import Place
from sandbox.remote.pool import WorkerPool, WorkerSlot
from sandbox.remote.spool import Spool
from sandbox.target import load_target
from sandbox.worker import Folder
from tasks.task import Task

SEEDS = ("// time_us = 100\n", "// time_us = 120\n// code = other\n")


def ideas(generation: int) -> Sequence[Idea]:
    return [
        Idea(f"idea {generation}.{n}", "try it", ("change it",), n, max(1, 10 * n), 50 - n, mechanism=MECHANISMS[n])
        for n in range(3)
    ]


def writer(step: Step, base: Specimen) -> str:
    """Repairs of both kinds, tunables, a wrong tuned choice, a duplicate: every edge of the experiment's graph."""
    if step.experiment_id == "g001-e1" and step.number == 0:
        return "// fail compile line 3: unknown name\n"
    if step.experiment_id == "g001-e2" and step.number == 0:
        return "// fail verify hang\n"
    if step.experiment_id == "g002-e1":
        return base.source
    time_us = 100 // step.generation - int(step.experiment_id[-1])
    return (
        f"// time_us = {time_us}\n// tunable ROWS = 4, 1, 2\n// time_us[ROWS=1] = {time_us - 5}\n"
        f"// time_us[ROWS=2] = {time_us - 9}\n// fail verify[ROWS=2] wrong at 7\n"
    )


def make_task(folder: Path) -> Task:
    return table_task(folder / "task", *SEEDS)


def make_bench(task: Task, sandbox: TableSandbox, worker: str = "worker-1", slots: int = 1) -> WorkerPool:
    device_place = Place("mi300x", sandbox.device, sandbox.version)
    return WorkerPool(
        worker,
        device_place,
        tuple(WorkerSlot(f"table {n}", lambda seed: sandbox) for n in range(slots)),
        lambda request: task,
    )


def work(spool: Path, task: Task, sandbox: TableSandbox, worker: str = "worker-1", slots: int = 1) -> int:
    """Answer all there is to answer; how many that was."""
    folder = Folder(Spool(spool), make_bench(task, sandbox, worker, slots), once=True)
    folder.run(threading.Event())
    return folder.done


def through(post: Post) -> Remote:
    return Remote(post, "a table elsewhere", load_target("mi300x"), 7, TableSandbox().preparer)


def make_context(folder: Path, sandbox: Any, author: ScriptedAuthor | None = None) -> Context:
    """The run of all tests here, judged by this sandbox."""
    plain = table_context(folder, make_task(folder), author or ScriptedAuthor(ideas, draft), Limits(2, 2))
    return replace(plain, sandbox=sandbox)


def draft(step: Step, base: Specimen) -> Draft:
    return Draft(writer(step, base))


def answered(context: Context, folder: Path, spool: Path, sandbox: TableSandbox) -> tuple[Run, int]:
    """Drive and answer in turns until the run ends; the run and how often it waited."""
    pauses = 0
    while (run := drive(context, folder / "checkpoint.db")).status == "paused":
        pauses += 1
        assert work(spool, context.assignment.task, sandbox) > 0, run.stop_reason
    return run, pauses
