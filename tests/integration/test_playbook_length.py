"""Fifty generations of the playbook on a real seed: what a run leaves behind stays small."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Assignment, Member, Selection, Step
from agents.playbook.playbook import Playbook
from graph import Limits, build_graph
from graph.doubles import TableSandbox, table_context
from graph.drive import checkpoints, drive, run_config
from records.codec import dumps
from records.evaluation import Evaluation
from sandbox.candidate.prepare import Prepared, Preparer
from tasks import load_task

STATE_BYTES, CHECKPOINT_BYTES = 64 * 1024, 5_000_000


class Wanderer(Playbook):
    """The playbook, but for its choice of a base: what it can do to the fastest kernel ends after some generations."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._visits: Counter[str] = Counter()

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        base = min(population, key=lambda m: (self._visits[m.id], m.id))
        self._visits[base.id] += 1
        return Selection(base.id, population[0].id, "the one that was built on least")


class Claims(TableSandbox):
    """Real launch plans and tunables; a time that follows from the text alone."""

    def __init__(self) -> None:
        super().__init__()
        self.preparer = Preparer()

    def benchmark(self, prepared: Prepared) -> Evaluation:
        return timed(super().benchmark(prepared))

    def estimate(self, prepared: Prepared) -> Evaluation:
        return timed(super().estimate(prepared))


def timed(plain: Evaluation) -> Evaluation:
    time_us = 900 + int(plain.candidate_id[:4], 16) / 1000
    measurements = (
        replace(m, time_us=time_us, ci_low_us=time_us, ci_high_us=time_us, bound="hbm") for m in plain.measurements
    )
    return replace(plain, measurements=tuple(measurements))


@pytest.mark.long
def test_after_fifty_playbook_generations_state_and_checkpoint_are_small(tmp_path: Path) -> None:
    limits = Limits(generations=50, picks=2, stagnation=50, tunings=2)
    context = replace(table_context(tmp_path, load_task("row_softmax"), Wanderer(3), limits), sandbox=Claims())
    run = drive(context, tmp_path / "checkpoint.db")
    assert run.stop_reason == "all 50 generations are used"
    attempts = context.ledger.attempts(run.id)
    assert {a.generation for a in attempts} == set(range(51))
    assert sum(a.status == "accepted" for a in attempts) > 75
    with checkpoints(tmp_path / "checkpoint.db") as saver:
        state = build_graph().compile(checkpointer=saver).get_state(run_config(context)).values
    assert state["generation"] == 50
    assert len(dumps(state).encode()) < STATE_BYTES
    assert sum(path.stat().st_size for path in tmp_path.glob("checkpoint.db*")) < CHECKPOINT_BYTES
