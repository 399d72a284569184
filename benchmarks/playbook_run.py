"""One run with the playbook as its only author, and what it made of the task's seeds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")  # read once, when langgraph is imported

from agents.author import Assignment
from agents.playbook.changes import Changes
from agents.playbook.playbook import Playbook
from graph import Context, Limits
from graph.doubles import ListedLiterature
from graph.drive import drive
from records.artefacts import ArtefactStore
from records.evaluation import Evaluation
from records.experiment import Run
from records.ledger import Ledger
from sandbox.answers import Remembered
from sandbox.protocol import Sandbox
from sandbox.target import Target
from tasks.task import Task


@dataclass(frozen=True)
class Winner:
    """The kernels that were accepted, the fastest first, with their texts; and what was timed for them, in order."""

    accepted: tuple[tuple[Evaluation, str], ...]
    timed: tuple[Evaluation, ...]


def played(task: Task, target: Target, sandbox: Sandbox, folder: Path, limits: Limits) -> Winner:
    """Run to the end in `folder`, one kernel at a time."""
    remembered = Remembered(sandbox)
    work = Assignment(task, target.brief.strip(), target.name, target.arch, 0)
    ledger = Ledger(folder / "ledger.db")
    run = Run("played", task.name, target.name, sandbox.device, "playbook", seed=0)
    artefacts = ArtefactStore(folder / "artefacts", ledger)
    context = Context(
        run=run,
        assignment=work,
        author=Playbook(0, explores=True),
        sandbox=remembered,
        literature=ListedLiterature(),
        ledger=ledger,
        artefacts=artefacts,
        limits=limits,
        changes=Changes(work),
    )
    drive(context, folder / "checkpoint.db", max_concurrency=1)
    accepted = [a for a in ledger.attempts(run.id) if a.status == "accepted"]
    evaluations = [
        (evaluation, artefacts.text(a.source)) for a in accepted if (evaluation := ledger.evaluation(a.evaluation_key))
    ]
    ledger.close()
    evaluations.sort(key=lambda pair: pair[0].geomean_us or float("inf"))
    return Winner(tuple(evaluations), tuple(remembered.timed.values()))
