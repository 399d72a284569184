"""One experiment of the graph: repairs, their bounds, the critic, duplicates and tuning."""

import os
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Critique, Draft, Specimen, Step
from records.errors import MalformedReply
from tests.support.scripted_run import SEED, Bench, faster, host_code_beside, only_first


@pytest.mark.parametrize(
    ("text", "code", "stage"),
    [
        ("// fail compile use of undeclared name foo", "A.1", "compile"),
        ("// fail verify wrong at 7", "C.1", "correct"),
        ("// fail verify hang", "B.5", "execute"),
        ("// fail benchmark hang", "B.5", "execute"),
    ],
)
def test_a_refused_draft_goes_back_with_the_evidence_and_costs_no_generation(
    tmp_path: Path, text: str, code: str, stage: str
) -> None:
    bench = Bench(tmp_path, only_first(text))
    assert bench.drive().status == "done"
    assert bench.statuses() == {"g001-e1-a0": "rejected", "g001-e1-a1": "accepted", "g001-e2-a0": "accepted"}
    refused = bench.attempts()["g001-e1-a0"]
    assert (refused.code, refused.stage, refused.geomean_us) == (code, stage, None)
    [(step, remarks, evaluation)] = bench.author.repairs
    assert (step.experiment_id, step.number, remarks) == ("g001-e1", 1, ())
    assert evaluation is not None
    assert evaluation.verdict.findings[0].message in refused.reason
    assert evaluation.verdict.findings[0].line == 1
    assert [s.generation for role, s in bench.author.asked if role == "select"] == [1]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("// fail compile no", {"compile_repairs": 2, "wrong_repairs": 9}),
        ("// fail verify no", {"wrong_repairs": 2}),
        ("// fail verify hang", {"wrong_repairs": 2}),
        ("// fail compile no", {"compile_repairs": 0}),
    ],
)
def test_after_the_bound_the_attempt_is_failed_and_the_generation_goes_on(
    tmp_path: Path, text: str, bound: dict[str, int]
) -> None:
    bench = Bench(tmp_path, only_first(text, 99), **bound)
    run = bench.drive()
    last = min(bound.values())
    expected = {f"g001-e1-a{n}": "rejected" for n in range(last)}
    assert bench.statuses() == expected | {f"g001-e1-a{last}": "failed", "g001-e2-a0": "accepted"}
    assert "no right kernel" in bench.attempts()[f"g001-e1-a{last}"].lesson
    assert (run.status, run.stop_reason) == ("done", "the one generation asked for is used")


def test_both_bounds_count_for_themselves(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        return f"// draft {step.number}\n// fail {'verify' if step.number % 2 else 'compile'} no"

    bench = Bench(tmp_path, writer, picks=1, compile_repairs=1, wrong_repairs=2)
    bench.drive()
    assert list(bench.statuses().values()) == ["rejected", "rejected", "failed"]


def refusing(step: Step) -> Critique:
    return Critique(False, ("the tail is not masked", "use float4"))


def test_the_critic_sends_a_draft_that_compiles_back_once(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        return host_code_beside(faster(step, base))

    bench = Bench(tmp_path, writer, SEED + "// waves = 8\n", critic=refusing, picks=1)
    bench.drive()
    assert bench.statuses() == {"g001-e1-a0": "rejected", "g001-e1-a1": "accepted"}
    first = bench.attempts()["g001-e1-a0"]
    assert (first.stage, first.critique) == ("compile", "the tail is not masked\nuse float4")
    assert "the tail is not masked" in first.reason
    step = Step("table-run", 1, "g001-e1", 1)
    assert bench.author.repairs == [(step, ("the tail is not masked", "use float4"), None)]
    assert ["no host code runs" in concern for (concern,) in bench.author.concerns] == [True]


def test_a_critic_is_not_asked_where_nothing_speaks_against_a_draft(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        return faster(step, base) + "// waves = 1\n// scratch = 64\n"

    bench = Bench(tmp_path, writer, SEED + "// waves = 8\n", critic=refusing)
    bench.drive()
    assert set(bench.statuses().values()) == {"accepted"}
    assert "critique" not in [role for role, _ in bench.author.asked]


def test_a_draft_that_does_not_compile_goes_back_without_a_critic(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// fail compile no\n// waves = 1\n"), SEED + "// waves = 8\n", critic=refusing)
    bench.drive()
    assert bench.statuses()["g001-e1-a1"] == "accepted"
    assert "critique" not in [role for role, _ in bench.author.asked]


def test_the_report_of_what_was_implemented_is_kept(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: Draft(faster(step, base), ("wider loads",), ("LDS padding",)), picks=1)
    bench.drive()
    attempt = bench.attempts()["g001-e1-a0"]
    assert (attempt.report, attempt.skipped) == (("wider loads",), ("LDS padding",))
    assert attempt.lesson.startswith("idea 1.0: +")


def malformed(step: Step, base: Specimen) -> str:
    if step.experiment_id == "g001-e1":
        raise MalformedReply("the coder gave no answer of the asked shape")
    return faster(step, base)


def test_a_writer_without_an_answer_fails_its_own_experiment_only(tmp_path: Path) -> None:
    bench = Bench(tmp_path, malformed)
    assert bench.drive().status == "done"
    assert bench.statuses() == {"g001-e1-a0": "failed", "g001-e2-a0": "accepted"}
    assert (bench.attempts()["g001-e1-a0"].code, bench.attempts()["g001-e1-a0"].reason) == (
        "A.2",
        "the coder gave no answer of the asked shape",
    )


def test_a_kernel_an_earlier_generation_had_is_not_timed_again(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        if step.generation == 1:
            return "// time_us = 50\n// code = fast\n"
        return base.source if step.experiment_id == "g002-e1" else "// renamed\n// time_us = 50\n// code = fast\n"

    bench = Bench(tmp_path, writer, generations=2)
    bench.drive()
    second = [a for a in bench.attempts().values() if a.generation == 2]
    assert [(a.status, a.reason) for a in second] == [
        ("duplicate", "the same kernel as g001-e1-a0, which was accepted")
    ] * 2
    for stage in ("verify", "benchmark"):
        assert 1 + 1 <= bench.did(stage) <= 1 + 2  # twins of one generation may race


PLAN = '/*+++\n[[launch]]\nkernel = "k"\ngrid = ["1"]\nblock = ["{block}"]\nargs = ["x"]\n+++*/\n'


def test_equal_device_code_with_another_launch_is_another_kernel(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        block = {"g001-e1": 64, "g002-e1": 256, "g003-e1": 64}[step.experiment_id]
        return f"{PLAN.format(block=block)}// {step.experiment_id}\n// code = same\n// time_us = {1000 / block}\n"

    bench = Bench(tmp_path, writer, generations=3, picks=1)
    bench.drive()
    assert [a.status for a in bench.attempts().values()] == ["accepted", "accepted", "accepted", "duplicate"]
    assert bench.attempts()["g003-e1-a0"].reason == "the same kernel as g001-e1-a0, which was accepted"


TUNABLE = (
    PLAN.format(block="64 * ROWS").replace("+++*/", "[tunables]\nROWS = [4, 1, 2, 8]\n+++*/")
    + """
// tunable ROWS = 4, 1, 2, 8
// time_us = 40
// time_us[ROWS=1] = 30
// time_us[ROWS=2] = 20
// time_us[ROWS=8] = 10
"""
)


@pytest.mark.parametrize(
    ("fails", "tunables", "time_us"),
    [
        ("", {"ROWS": 8}, 10),
        ("// fail verify[ROWS=8] wrong at 7\n", {"ROWS": 2}, 20),
        ("// fail compile[ROWS=8] no\n// fail verify[ROWS=2] hang\n// fail benchmark[ROWS=1] hang\n", {"ROWS": 4}, 40),
    ],
)
def test_the_best_tuned_choice_that_is_right_becomes_the_default(
    tmp_path: Path, fails: str, tunables: dict[str, int], time_us: float
) -> None:
    bench = Bench(tmp_path, lambda step, base: TUNABLE + fails, picks=1)
    bench.drive()
    attempt = bench.attempts()["g001-e1-a0"]
    assert (attempt.status, dict(attempt.tunables)) == ("accepted", tunables)
    assert attempt.geomean_us == pytest.approx(time_us)
    assert f"ROWS = [{tunables['ROWS']}, " in bench.context.artefacts.text(attempt.source)
    result = bench.context.ledger.evaluation(attempt.evaluation_key)
    assert result is not None
    assert result.key == bench.sandbox.key(
        bench.sandbox.prepare(bench.context.artefacts.text(attempt.source), bench.context.assignment.task, tunables)
    )


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("// time_us = 40\n", ["write", "compile", "verify", "benchmark"]),
        (TUNABLE, ["write", "compile", "verify", "tune", "benchmark"]),
    ],
)
def test_only_a_kernel_with_a_choice_is_tuned(tmp_path: Path, text: str, stages: list[str]) -> None:
    bench = Bench(tmp_path, lambda step, base: text, picks=1)
    bench.drive()
    progress = [e["stage"] for e in bench.told if e["event"] == "stage" and e["generation"] and e["experiment"]]
    assert progress == stages
    assert bench.statuses() == {"g001-e1-a0": "accepted"}


def test_no_more_estimates_than_allowed(tmp_path: Path) -> None:
    many = TUNABLE.replace("4, 1, 2, 8\n//", ", ".join(map(str, range(1, 60))) + "\n//")
    bench = Bench(tmp_path, lambda step, base: many, picks=1, tunings=7)
    bench.drive()
    assert bench.did("estimate") == 7
