"""What speaks against a draft beside its parent, and what is recorded of it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Draft, Specimen, Step
from graph.trial import Trial, concerns, faults_of
from records.evaluation import Code, Evaluation, Measurement, Resources, Stage, TimeKind, Verdict
from tests.support.scripted_run import SEED, Bench, faster, only_first


def judged(
    time_us: float = 0.0,
    kind: TimeKind = "predicted",
    scratch: tuple[int, ...] = (0,),
    waves: tuple[int, ...] = (4,),
    refused: tuple[Stage, Code] | None = None,
    error: float = 0.0,
) -> Evaluation:
    """An evaluation with a kernel for each number of scratch bytes and waves."""
    rows = (Measurement("b", time_us, kind, "d", time_us, time_us, error=error),) if time_us else ()
    verdict = Verdict(refused[0], False, refused[1]) if refused else Verdict("time", True, "OK")
    kernels = (Resources(f"k{i}", 8, 0, 8, 0, *both) for i, both in enumerate(zip(scratch, waves, strict=True)))
    return Evaluation("k", "c", {}, verdict, resources=tuple(kernels), measurements=rows)


@pytest.mark.parametrize(
    ("draft", "parent"),
    [
        (judged(), judged()),
        (judged(10.2), judged(10)),
        (judged(9), judged(10)),
        (judged(30), judged()),
        (judged(), judged(10)),
        (judged(30, "measured"), judged(10)),
        (judged(12, error=0.3), judged(10, error=0.3)),
        (judged(scratch=(8,)), judged(scratch=(8,))),
        (judged(scratch=(8, 0), waves=(4, 4)), judged(scratch=(0, 8), waves=(4, 4))),
        (judged(waves=(4, 5), scratch=(0, 0)), judged(waves=(4,))),
        (judged(waves=(), scratch=()), judged(waves=(4,))),
        (judged(waves=(1,)), judged(waves=(), scratch=())),
        (judged(9, scratch=(12,), waves=(1,)), judged(10, scratch=(0,), waves=(8,))),
        (judged(refused=("compile", "A.1")), judged()),
        (judged(refused=("parse", "A.1")), judged()),
    ],
)
def test_nothing_speaks_against_a_draft_that_is_as_good_as_its_parent(draft: Evaluation, parent: Evaluation) -> None:
    assert concerns(draft, parent) == ()


@pytest.mark.parametrize(
    ("draft", "parent", "told"),
    [
        (judged(10.3), judged(10), ("1.03", "10.3 us")),
        (judged(30, "measured"), judged(10, "measured"), ("3.00 times", "30 us")),
        (judged(refused=("correct", "C.1")), judged(), ("correct", "C.1")),
        (judged(refused=("execute", "B.5")), judged(), ("execute", "B.5")),
    ],
)
def test_each_thing_that_got_worse_is_told_with_both_figures(
    draft: Evaluation, parent: Evaluation, told: tuple[str, ...]
) -> None:
    (point,) = concerns(draft, parent)
    assert all(word in point for word in told)


@pytest.mark.parametrize(
    ("draft", "parent", "told"),
    [
        (judged(30, scratch=(0, 12), waves=(4, 4)), judged(10, scratch=(8,)), ("k1", "12 bytes", "8")),
        (judged(30, scratch=(12,)), judged(10, scratch=(), waves=()), ("k0", "12 bytes", "0")),
        (judged(30, waves=(8, 3), scratch=(0, 0)), judged(10, waves=(4, 8), scratch=(0, 0)), ("3 waves", "4 of")),
    ],
)
def test_a_slower_kernel_is_told_with_what_may_be_the_cause(
    draft: Evaluation, parent: Evaluation, told: tuple[str, ...]
) -> None:
    _, cause = concerns(draft, parent)
    assert all(word in cause for word in told)


def test_several_points_are_told_together() -> None:
    assert len(concerns(judged(30, scratch=(4,), waves=(2,)), judged(10))) == 3


def test_a_fault_that_the_parent_has_too_is_no_point_against_a_draft() -> None:
    plan = '/*+++\n[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [64]\nargs = ["y"]\n+++*/\n'
    waits = f"{plan}__global__ void k(float* y) {{ if (threadIdx.x < 3) __syncthreads(); *y = 1; }}\n"
    calm = waits.replace("if (threadIdx.x < 3) ", "")
    assert len(faults_of(waits, calm, "gfx942")) == 1
    assert faults_of(waits, waits, "gfx942") == faults_of(calm, waits, "gfx942") == ()
    assert faults_of(calm.replace('args = ["y"]', "args = []"), calm, "gfx942") == (), "the judge tells that itself"


def test_what_is_recorded_of_an_accepted_and_of_a_refused_draft(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> Draft:
        text = "// fail verify wrong at 3\n" if step.experiment_id.endswith("e2") else faster(step, base)
        return Draft(f"// {step.experiment_id}\n{text}", ("wider loads",), ("tail: none",))

    bench = Bench(tmp_path, writer, wrong_repairs=0)
    assert bench.drive().status == "done"
    right, wrong = (bench.attempts()[f"g001-{slot}-a0"] for slot in ("e1", "e2"))
    assert (right.status, right.code, right.stage, right.reason) == ("accepted", "OK", "time", "")
    assert (right.geomean_us, right.time_kind) == (pytest.approx(49), "predicted")
    assert (wrong.status, wrong.code, wrong.stage, wrong.geomean_us) == ("failed", "C.1", "correct", None)
    assert "wrong at 3" in wrong.reason and wrong.evaluation_key and right.evaluation_key
    assert right.draft and not wrong.draft
    assert right.strategy == wrong.strategy == "?", "no plan can be read"
    assert right.credit.shown_pct == pytest.approx(100 * 51 / 49) and wrong.credit.shown_pct is None
    for made, slot in ((right, "e1"), (wrong, "e2")):
        assert bench.context.artefacts.text(made.source).startswith(f"// g001-{slot}\n")
        assert (made.number, made.generation, made.parent_id) == (0, 1, "g000-e0-a0")
        assert (made.report, made.skipped) == (("wider loads",), ("tail: none",))
        assert made.lesson


def test_a_repaired_draft_counts_on_and_only_the_last_one_has_a_lesson(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        return faster(step, base) if step.number else "// fail verify wrong at 3\n"

    bench = Bench(tmp_path, writer, picks=1, wrong_repairs=1)
    bench.drive()
    first, second = (bench.attempts()[f"g001-e1-a{number}"] for number in (0, 1))
    assert (first.status, first.number, first.lesson) == ("rejected", 0, "")
    assert (second.status, second.number) == ("accepted", 1) and second.lesson


def test_a_kernel_of_an_earlier_generation_is_a_duplicate_and_has_no_time(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: SEED, picks=1)
    bench.drive()
    (again,) = (a for a in bench.attempts().values() if a.generation)
    assert (again.status, again.geomean_us, again.draft) == ("duplicate", None, "") and "g000-e0-a0" in again.reason


def trial(bench: Bench, experiment: str, **state: Any) -> Trial:
    return Trial({"generation": 1, "experiment_id": experiment, **state}, bench.context)  # type: ignore[typeddict-item]


def test_the_attempt_that_ended_an_experiment_is_found_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// fail verify wrong at 3\n"), wrong_repairs=1)
    bench.drive()
    for experiment, name in (("g001-e1", "g001-e1-a1"), ("g001-e2", "g001-e2-a0")):
        ended = trial(bench, experiment).ended()
        assert ended is not None and ended.id == name
    assert trial(bench, "g001-e9").ended() is None
    tried = replace(bench.attempts()["g001-e2-a0"], id="g001-e3-a0", experiment_id="g001-e3", tool="check")
    bench.context.ledger.add_attempt(tried)
    assert trial(bench, "g001-e3").ended() is None, "a try at the bench ends nothing"


def test_a_draft_is_recorded_under_the_first_number_that_no_other_draft_has(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// fail verify wrong at 3\n"), wrong_repairs=1)
    bench.drive()
    here = trial(bench, "g001-e1")
    texts = [bench.context.artefacts.text(bench.attempts()[f"g001-e1-a{n}"].source) for n in (0, 1)]
    assert [here.free_number(n, text) for n, text in enumerate(texts)] == [0, 1]
    assert here.free_number(0, texts[1]) == 1 and here.free_number(0, "// another\n") == 2
    assert here.free_number(5, "// another\n") == 5


def test_nothing_speaks_against_a_first_kernel_and_it_is_built_on_a_blank_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.drive()
    seed, later = (
        trial(bench, name, draft=bench.attempts()[f"{name}-a0"].source, implemented=[], skipped=[])
        for name in ("g000-e0", "g001-e1")
    )
    worse = judged(1000, scratch=(64,), waves=(1,))
    assert seed.concerns(worse) == () and seed.parent() is None and seed.base().is_blank and seed.reference() is None
    assert len(later.concerns(worse)) == 2, "no waves are known of its parent"
    parent = later.parent()
    assert parent is not None and parent.id == "g000-e0-a0" == later.base().attempt.id
    assert later.idea().title == later.experiment().title and later.draft().source
