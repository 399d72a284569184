"""A run's best kernel beside what it was told to beat, when the run ends; each comparison is an event of its diary.

A kernel file is judged by the run's own sandbox: predicted in the lab, on a GPU timed in turns with the best kernel.
The other kinds need PyTorch or their own library beside the kernel: a process of its own races them on this machine's
GPU (`race.py`). Nothing here decides what the run builds on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.beating.incumbent_names import Incumbent, incumbents_of
from records.errors import RunStopped, ScientistError
from records.evaluation import Contrast, Evaluation
from records.incumbent import KIND, Beating
from records.ranking import by_level, is_shorter
from sandbox.walk import Purpose, judge

if TYPE_CHECKING:
    from app.settings import Settings
    from graph.context import Context
    from records.experiment import Attempt, Run

STEPS: tuple[Purpose, ...] = ("compile", "verify", "benchmark")
IN_LAB = "the lab executes kernels for the GPU alone; run with --on device where the GPU and PyTorch are"


def compare_incumbents(settings: Settings, context: Context, best: Attempt | None) -> None:
    """Compare the best kernel with each incumbent that it was not compared with; faults are sentences."""
    ledger, run = context.ledger, context.run
    for incumbent in incumbents_of(run.config) if best is not None else ():
        assert best is not None
        empty = Beating(incumbent.name, best.id)
        if ledger.event_of(run.id, empty.key) is not None:
            continue
        try:
            beating = _compared(settings, context, best, incumbent)
        except RunStopped:
            raise
        except ScientistError as error:
            beating = Beating(incumbent.name, best.id, why=" ".join(str(error).split()))
        ledger.event(run.id, KIND, beating.payload(), beating.key)


def untimed_line(run: Run) -> str:
    """Say before a run begins what it was told to beat and will not time; empty where it times all."""
    others = [row.name for row in incumbents_of(run.config) if not row.is_kernel]
    return f"{', '.join(others)} will not be timed: {IN_LAB}" if others and run.on == "lab" else ""


def _compared(settings: Settings, context: Context, best: Attempt, incumbent: Incumbent) -> Beating:
    if context.deferred is not None:
        return Beating(incumbent.name, best.id, why=f"verdicts come from {context.run.on}; run on that machine itself")
    if incumbent.is_kernel:
        return _beside_kernel(context, best, incumbent)
    if context.run.on != "device":
        where = IN_LAB if context.run.on == "lab" else f"it is timed with --on device alone, not on {context.run.on}"
        return Beating(incumbent.name, best.id, why=where)
    from app.beating.racing import raced

    return raced(settings, context, best, incumbent)


def _beside_kernel(context: Context, best: Attempt, incumbent: Incumbent) -> Beating:
    """Judge the file, and compare: its default tunables count, as its author wrote it."""
    from graph.evaluating import compare_prepared, evaluate, prepared_again

    theirs = context.sandbox.prepare(context.artefacts.text(incumbent.text), context.assignment.task)
    evaluation = judge(partial(evaluate, context), theirs, STEPS)[-1][1]
    verdict = evaluation.verdict
    if not verdict.accepted:
        reason = verdict.findings[0].message if verdict.findings else verdict.code
        return Beating(incumbent.name, best.id, why=f"it is refused at the stage {verdict.stage}: {reason}")
    ours = context.ledger.evaluation(best.evaluation_key)
    if ours is None or not ours.geomean_us or not evaluation.geomean_us or ours.time_kind != evaluation.time_kind:
        return Beating(incumbent.name, best.id, why="the two have no times of one kind")
    ours_us, theirs_us, kind = ours.geomean_us, evaluation.geomean_us, str(ours.time_kind)
    plain = Beating(incumbent.name, best.id, theirs_us / ours_us, None, None, ours_us, theirs_us, kind)
    if kind == "measured" and ours.key != evaluation.key:
        found = compare_prepared(context, prepared_again(context, best), theirs)
        return replace(plain, speed=1 / found.ratio, low=1 / found.high, high=1 / found.low, verdict=found.verdict)
    return replace(plain, verdict=_by_level(ours, evaluation))


def _by_level(ours: Evaluation, theirs: Evaluation) -> Contrast:
    if ours.time_kind == "predicted":
        return "faster" if is_shorter(ours, theirs) else "slower" if is_shorter(theirs, ours) else "same"
    decided = by_level(ours, theirs)
    return "undecided" if decided is None else "faster" if decided else "slower"
