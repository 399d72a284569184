"""Gains of other branches: offered as they were found, together where mechanisms differ, until brought over."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.author import Draft, Idea, Specimen, Step
from graph.sameness import Sameness
from graph.siblings import Siblings, title_of
from records.experiment import Attempt, Experiment
from records.mechanism import Mechanism
from tests.support.scripted_run import Bench


def gained(
    siblings: Siblings, name: str, title: str, time_us: float, mechanism: Mechanism = "", error: float = 0.0
) -> None:
    experiment = Experiment(name, "r", 1, 1, "g000-e0-a0", None, title, "", (title,), mechanism=mechanism)
    attempt = Attempt(f"{name}-a0", "r", name, 1, 0, "c", "", "accepted", "k", geomean_us=time_us, time_error=error)
    siblings.add(experiment, attempt, 100.0)


def test_changes_of_other_mechanisms_are_offered_together_and_alone_where_nobody_could_write_that() -> None:
    siblings = Siblings(Sameness())
    gained(siblings, "g001-e1", "Split K", 80.0, "split work")
    gained(siblings, "g001-e2", "Swizzle the banks", 50.0, "bank conflicts")
    gained(siblings, "g001-e3", "Pad the rows", 90.0, "bank conflicts")
    gained(siblings, "g001-e4", "Prefetch", 99.0, "latency hiding", error=0.2)
    (joint,) = siblings.beside({"g000-e0-a0"})
    assert joint.title == "Swizzle the banks and Split K (as in g001-e2-a0)"
    assert (joint.gain_max_pct, joint.reference_id) == (pytest.approx(150.0), "g001-e2-a0")
    assert joint.rubric == ("Swizzle the banks", "Split K")
    begun = Experiment("g002-e1", "r", 2, 1, "g000-e0-a0", "g001-e2-a0", joint.title, "", joint.rubric)
    siblings.forget_tried(begun, is_written=False)
    alone = [title_of("Swizzle the banks", "g001-e2-a0"), title_of("Split K", "g001-e1-a0")]
    assert [p.title for p in siblings.beside({"g000-e0-a0"})][:2] == alone
    assert alone[0] not in [p.title for p in siblings.beside({"g001-e2-a0"})], "it descends from it"
    siblings.forget_tried(begun, is_written=True)
    assert [p.title for p in siblings.beside({"g000-e0-a0"})] == [title_of("Pad the rows", "g001-e3-a0")]


def test_a_run_brings_over_what_the_leader_does_not_have(tmp_path: Path) -> None:
    """Two changes gain side by side; the next generation joins them without a planner's idea."""

    def planner(generation: int) -> list[Idea]:
        first = [
            Idea("Split K", "", ("split",), 10, 60, 5, mechanism="split work"),
            Idea("Swizzle", "", ("swizzle",), 10, 90, 5, mechanism="bank conflicts"),
        ]
        return first if generation == 1 else []

    def writer(step: Step, base: Specimen) -> str | Draft:
        if step.generation == 1:
            return f"// {step.experiment_id}\n// time_us = {70 if step.experiment_id == 'g001-e1' else 60}\n"
        return f"// joined\n// time_us = {0.7 * 60}\n"

    bench = Bench(tmp_path, writer, planner=planner, generations=3)
    assert bench.drive().stop_reason == "nothing is left to try"
    joined = bench.context.ledger.experiment(bench.context.run.id, "g002-e1")
    assert joined is not None and (joined.title, joined.reference_id) == ("Split K (as in g001-e1-a0)", "g001-e1-a0")
    assert bench.attempts()["g002-e1-a0"].geomean_us == pytest.approx(42.0)
