"""Rules of choice by what they gained for their kernels, and a draft that is its parent in other words."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Idea, Specimen, Step
from graph.bandit import Bandit
from graph.history import History
from graph.picking import RULES
from tests.support.scripted_run import Bench

NAMES = tuple(RULES)


def test_every_rule_is_used_first_and_then_the_one_that_pays_most() -> None:
    bandit = Bandit()
    assert bandit.draws(NAMES, 3) == list(NAMES)
    for _ in range(12):
        bandit.add("most_innovative", 100.0, 1)
        bandit.add("highest_potential", None, 1)
        bandit.add("most_certain", 1.0, 1)
    assert bandit.draws(NAMES, 2) == ["most_innovative"] * 2


def test_what_a_gain_costs_counts() -> None:
    bandit = Bandit()
    for _ in range(12):
        bandit.add("most_innovative", 100.0, 10)
        bandit.add("highest_potential", 40.0, 1)
        bandit.add("most_certain", None, 1)
    assert bandit.draws(NAMES, 1) == ["highest_potential"]


def ideas(generation: int) -> list[Idea]:
    return [
        Idea(f"new {generation}", "", (), 0.0, 1.0, 90.0),
        Idea(f"far {generation}", "", (), 0.0, 90.0, 0.0),
        Idea(f"sure {generation}", "", (), 5.0, 6.0, 0.0),
    ]


def rules_used(folder: Path, **limits: int) -> list[str]:
    """The rules of a run in which only the first experiment of a generation gains."""

    def write(step: Step, base: Specimen) -> str:
        gains = step.experiment_id.endswith("e1")
        return f"// {step.experiment_id}\n// time_us = {100 / 2**step.generation if gains else 400}\n"

    bench = Bench(folder, write, planner=ideas, generations=4, picks=3, answers=0, roofline_fraction=9.0, **limits)
    bench.drive()
    return [e.picked_as for e in bench.context.ledger.experiments(bench.context.run.id) if e.generation == 4]


@pytest.mark.slow
def test_the_graph_asks_the_bandit_only_where_it_is_switched_on(tmp_path: Path) -> None:
    assert rules_used(tmp_path / "off", attainable_fraction=0) == list(NAMES)
    assert rules_used(tmp_path / "on", attainable_fraction=0, bandit=1).count("most_innovative") > 1


SEED = (
    "// tunable ROWS = 1, 2\n// code[ROWS=1] = one\n// code[ROWS=2] = two\n// time_us = 100\n// time_us[ROWS=2] = 90\n"
)


def test_a_parent_in_other_words_is_found_before_it_is_tuned(tmp_path: Path) -> None:
    for words, status in (("", "duplicate"), ("// code[ROWS=2] = three\n", "accepted")):
        bench = Bench(tmp_path / status, lambda step, base, w=words: f"{w}// said again\n{SEED}", SEED, picks=1)  # type: ignore[misc]
        bench.drive()
        made = bench.attempts()["g001-e1-a0"]
        assert made.status == status
        asked = [key for purpose, key in bench.sandbox.calls if purpose == "estimate"]
        assert len(asked) == (2 if status == "duplicate" else 4), "the seed's two choices, and the other kernel's"


def test_one_kernel_of_two_siblings_is_rewarded_and_learnt_from_once(tmp_path: Path) -> None:
    """Two experiments of a generation may write the same kernel; the second has cost its kernels and gained nothing."""

    def write(step: Step, base: Specimen) -> str:
        same = "// time_us = 50\n// code = one\n"
        return f"{same}// {step.experiment_id}\n" if not step.experiment_id.endswith("e3") else "// time_us = 80\n"

    def three(generation: int) -> list[Idea]:
        return [Idea(f"idea {n}", "", (), 10.0 * n, 20.0 * n, 30.0 * n) for n in (1, 2, 3)]

    bench = Bench(tmp_path, write, planner=three, picks=3)
    bench.drive()
    history = History(bench.context.ledger, bench.context.run.id)
    accepted = [a for a in bench.attempts().values() if a.status == "accepted" and a.generation]
    assert [a.geomean_us for a in sorted(accepted, key=lambda a: a.id)] == pytest.approx([50, 50, 80])
    rewards = sorted(arm.reward for rule, arm in history.bandit(2).arms.items() if rule in NAMES)
    assert rewards == pytest.approx([0.0, math.log2(100 / 80), 1.0])
    assert sum("idea" in lesson for lesson in history.memory(2).lessons) == 2
