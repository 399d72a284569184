"""Runs that start from a person's kernels, from nothing, and from the end of an earlier run."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Idea, Proposal, Room, Specimen, Step
from agents.playbook.playbook import Playbook
from app.continuing import extended
from app.session import summary
from graph.context import StartingKernel
from graph.doubles import ScriptedAuthor
from graph.drive import drive
from records.errors import TaskError, UsageError
from records.experiment import Extension
from tests.support.scripted_run import SEED, Bench, faster, ideas


def begun_with(bench: Bench, *sources: str, has_seeds: bool = True) -> Bench:
    artefacts = bench.context.artefacts
    starts = tuple(StartingKernel(f"file mine_{n}.hip", artefacts.put(text)) for n, text in enumerate(sources))
    bench.context = replace(bench.context, starts=starts, has_seeds=has_seeds)
    return bench


def best_of(bench: Bench) -> Any:
    return summary(bench.context.ledger, bench.context.ledger.run("table-run"), bench.folder, 0.0).best


def test_files_join_the_seeds_and_pass_the_same_gates(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: f"// {step.experiment_id}\n// time_us = 60\n", picks=1)
    begun_with(
        bench, "// fail verify wrong at 3\n", "// tunable ROWS = 4, 2\n// time_us = 90\n// time_us[ROWS=2] = 70\n"
    )
    assert bench.drive().status == "done"
    assert bench.statuses("g000") == {"g000-e0-a0": "accepted", "g000-e1-a0": "rejected", "g000-e2-a0": "accepted"}
    assert bench.attempts()["g001-e1-a0"].parent_id == "g000-e2-a0", "the file, tuned, is the best to begin with"
    best = best_of(bench)
    assert (best.speedup_over_seed, best.speedup_over_naive_seed) == pytest.approx((70 / 60, 100 / 60))


def test_files_may_take_the_place_of_the_seeds(tmp_path: Path) -> None:
    bench = begun_with(Bench(tmp_path), "// fail compile no\n", "// time_us = 90\n", has_seeds=False)
    assert bench.drive().status == "done"
    assert bench.statuses("g000") == {"g000-e0-a0": "rejected", "g000-e1-a0": "accepted"}
    assert [e.title for e in bench.context.ledger.experiments("table-run", 0)] == ["file mine_0.hip", "file mine_1.hip"]
    assert best_of(bench).speedup_over_naive_seed == pytest.approx(90 / best_of(bench).geomean_us)


def test_a_run_from_files_that_are_all_refused_says_why(tmp_path: Path) -> None:
    bench = begun_with(Bench(tmp_path), "// fail compile use of undeclared name foo\n", has_seeds=False)
    with pytest.raises(TaskError, match="none of the kernels to begin with is accepted; the first: use of undeclared"):
        bench.drive()
    assert bench.context.ledger.run("table-run").status == "failed"


def bare(bench: Bench) -> Bench:
    task = replace(bench.context.assignment.task, seeds=())
    bench.context = replace(bench.context, assignment=replace(bench.context.assignment, task=task))
    return bench


def test_a_task_without_a_seed_gets_its_first_kernel_from_the_author(tmp_path: Path) -> None:
    bases: list[bool] = []

    def writer(step: Step, base: Specimen) -> str:
        bases.append(base.is_blank)
        if step.generation:
            return faster(step, base)
        return ["// fail compile no\n", "// fail verify wrong\n", "// tunable R = 1, 2\n// time_us = 300\n"][
            step.number
        ]

    bench = bare(Bench(tmp_path, writer))
    assert bench.drive().status == "done"
    assert bench.statuses("g000") == {"g000-e0-a0": "rejected", "g000-e0-a1": "rejected", "g000-e0-a2": "accepted"}
    assert bases == [True, True, True, False, False]
    assert bench.attempts()["g001-e1-a0"].parent_id == "g000-e0-a2"
    assert not best_of(bench).is_seed


def test_a_first_kernel_alone_is_something_from_nothing(tmp_path: Path) -> None:
    bench = bare(Bench(tmp_path, lambda step, base: SEED, planner=lambda generation: []))
    bench.drive()
    result = summary(bench.context.ledger, bench.context.ledger.run("table-run"), tmp_path, 0.0)
    assert result.is_gain


def test_after_several_first_kernels_that_fail_the_run_fails_too(tmp_path: Path) -> None:
    bench = bare(Bench(tmp_path, lambda step, base: "// fail verify all zeros\n", wrong_repairs=1))
    with pytest.raises(TaskError, match="no first kernel was accepted; the last: all zeros"):
        bench.drive()
    assert list(bench.statuses("g000").values()) == ["rejected", "failed"] * 2, "as many as a generation has picks"


def test_the_playbook_says_that_it_needs_a_kernel(tmp_path: Path) -> None:
    bench = bare(Bench(tmp_path))
    bench.context = replace(bench.context, author=Playbook())
    with pytest.raises(TaskError, match="has no seed, and the author playbook changes kernels but writes none"):
        bench.drive()


def again(bench: Bench, generations: int) -> list[Mapping[str, Any]]:
    """Extend the run and drive it on; what was told."""
    run = extended(bench.context.ledger, bench.context.ledger.run("table-run"), generations)
    bench.context = replace(bench.context, run=run)
    progress: list[Mapping[str, Any]] = []
    drive(bench.context, bench.folder / "checkpoint.db", progress.append)
    return progress


def steps(bench: Bench) -> list[tuple[str, Step]]:
    return bench.author.asked


@pytest.mark.parametrize("keeps_checkpoint", [True, False])
def test_a_run_that_used_its_generations_goes_on(tmp_path: Path, keeps_checkpoint: bool) -> None:
    bench = Bench(tmp_path)
    bench.drive()
    step_count, before = len(steps(bench)), bench.attempts()
    if not keeps_checkpoint:
        for path in tmp_path.glob("checkpoint.db*"):
            path.unlink()
    progress = again(bench, 3)
    run = bench.context.ledger.run("table-run")
    assert (run.status, run.stop_reason) == ("done", "all 3 generations are used")
    assert before.items() <= bench.attempts().items()
    assert [e["generation"] for e in progress if e["event"] == "generation"][-2:] == [2, 3]
    new = [step.generation for role, step in steps(bench)[step_count:] if role == "plan"]
    assert new == [2, 3], "the ledger has the plan of the first one"
    stops = [e.payload["reason"] for e in bench.context.ledger.events("table-run") if e.kind == "stopped"]
    assert stops == ["the one generation asked for is used", "all 3 generations are used"]


def test_a_run_that_stood_still_gets_its_patience_back(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path,
        lambda step, base: f"// {step.experiment_id}\n// time_us = {100 if step.generation < 4 else 50}\n",
        generations=9,
        stagnation=2,
    )
    assert bench.drive().stop_reason == "no gain in 2 generations"
    again(bench, 4)
    assert bench.context.ledger.run("table-run").stop_reason == "all 4 generations are used"
    assert best_of(bench).geomean_us == pytest.approx(50)


def test_the_planner_is_told_what_was_in_force_when_a_generation_began(tmp_path: Path) -> None:
    limits: list[tuple[int, Any]] = []

    class Counting(ScriptedAuthor):
        def plan(self, step: Step, *arguments: Any) -> Proposal:
            limits.append((step.generation, arguments[-1]))
            return super().plan(step, *arguments)

    bench = Bench(tmp_path)
    bench.context = replace(bench.context, author=Counting(ideas, faster))
    bench.drive()
    for path in tmp_path.glob("checkpoint.db*"):
        path.unlink()
    again(bench, 2)
    first, second = Room(generation=2, run=2), Room(generation=2, run=2)
    assert limits == [(1, first), (2, second)], "a plan that the ledger has is not asked for again"


def test_a_run_that_failed_says_why_it_cannot_go_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, faster, "// fail verify wrong at 3\n")
    with pytest.raises(TaskError):
        bench.drive()
    with pytest.raises(UsageError, match="failed and cannot go on: the first seed of task table must be accepted"):
        again(bench, 3)


def test_fewer_generations_than_were_begun_are_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, generations=2)
    bench.drive()
    with pytest.raises(UsageError, match="has begun generation 2; --generations is the new total, give 3 or more"):
        again(bench, 2)


def test_an_extension_survives_a_kill_before_anything_was_driven(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.drive()
    extended(bench.context.ledger, bench.context.ledger.run("table-run"), 2)
    run = bench.context.ledger.run("table-run")  # as a new process finds it
    assert (run.status, run.extensions) == ("running", (Extension(1, 2),))
    bench.context = replace(bench.context, run=run)
    assert bench.drive().stop_reason == "all 2 generations are used"


def test_an_idea_of_the_first_generation_is_not_asked_again(tmp_path: Path) -> None:
    generations: list[int] = []

    def planner(generation: int) -> Sequence[Idea]:
        generations.append(generation)
        return ideas(generation)

    bench = Bench(tmp_path, planner=planner)
    bench.drive()
    again(bench, 2)
    assert generations == [1, 2]
    assert json.dumps(bench.statuses("g002")).count("accepted") == 2
