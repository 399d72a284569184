"""The whole graph with an author that follows a script and a sandbox that believes comments."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Critique, Draft, Idea, Member, Selection, Specimen, Step
from graph import Context, Limits, build_graph
from graph.doubles import ScriptedAuthor, TableSandbox, table_context, table_task
from graph.drive import drive
from records.codec import dumps
from records.errors import BudgetExhausted, KnowledgeError, LabError, LedgerError, MalformedReply, TaskError, UsageError
from records.experiment import Attempt, Run

SEED = "// time_us = 100\n// roofline_us = 5\n"
Writer = Callable[[Step, Specimen], str | Draft]


def ideas(generation: int) -> Sequence[Idea]:
    return [Idea(f"idea {generation}.{i}", "try it", ("change it",), i, 10 * i, 50 - i) for i in range(5)]


def faster(step: Step, base: Specimen) -> str:
    return f"// time_us = {100 / (1 + step.generation) - int(step.experiment_id[-1])}\n// roofline_us = 1\n"


class Bench:
    """One run and what became of it."""

    def __init__(self, folder: Path, writer: Writer = faster, *seeds: str, critic: Any = None,
                 planner: Any = ideas, **limits: Any) -> None:
        script = {"critic": critic} if critic else {}
        self.author = ScriptedAuthor(planner, writer, **script)
        self.folder = folder
        self.context: Context = table_context(
            folder, table_task(folder / "task", *(seeds or (SEED,))), self.author,
            Limits(**({"generations": 1, "picks": 2} | limits)))
        self.told: list[Mapping[str, Any]] = []

    @property
    def sandbox(self) -> TableSandbox:
        assert isinstance(self.context.sandbox, TableSandbox)
        return self.context.sandbox

    def drive(self) -> Run:
        return drive(self.context, self.folder / "checkpoint.db", self.told.append)

    def attempts(self) -> dict[str, Attempt]:
        return {a.id: a for a in self.context.ledger.attempts(self.context.run.id)}

    def statuses(self, prefix: str = "g001") -> dict[str, str]:
        return {name: a.status for name, a in self.attempts().items() if name.startswith(prefix)}

    def did(self, purpose: str) -> int:
        return sum(p == purpose for p, _ in self.sandbox.calls)


def only_first(text: str, until: int = 1) -> Writer:
    """The first experiment's drafts below `until` say `text`; everything else works."""
    def writer(step: Step, base: Specimen) -> str:
        refused = step.experiment_id == "g001-e1" and step.number < until
        return f"// draft {step.number}\n{text}\n" if refused else faster(step, base)

    return writer


@pytest.mark.parametrize(("text", "code", "stage"), [
    ("// fail compile use of undeclared name foo", "A.1", "compile"), ("// fail verify wrong at 7", "C.1", "correct"),
    ("// fail verify hang", "B.5", "execute"), ("// fail benchmark hang", "B.5", "execute"),
])
def test_a_refused_draft_goes_back_with_the_evidence_and_costs_no_generation(
        tmp_path: Path, text: str, code: str, stage: str) -> None:
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


@pytest.mark.parametrize(("text", "bound"), [
    ("// fail compile no", {"compile_repairs": 2, "wrong_repairs": 9}), ("// fail verify no", {"wrong_repairs": 2}),
    ("// fail verify hang", {"wrong_repairs": 2}), ("// fail compile no", {"compile_repairs": 0}),
])
def test_after_the_bound_the_attempt_is_failed_and_the_generation_goes_on(
        tmp_path: Path, text: str, bound: dict[str, int]) -> None:
    bench = Bench(tmp_path, only_first(text, 99), **bound)
    run = bench.drive()
    last = min(bound.values())
    expected = {f"g001-e1-a{n}": "rejected" for n in range(last)}
    assert bench.statuses() == expected | {f"g001-e1-a{last}": "failed", "g001-e2-a0": "accepted"}
    assert "did not work" in bench.attempts()[f"g001-e1-a{last}"].lesson
    assert (run.status, run.stop_reason) == ("done", "the one generation asked for is used")


def test_both_bounds_count_for_themselves(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        return f"// draft {step.number}\n// fail {'verify' if step.number % 2 else 'compile'} no"

    bench = Bench(tmp_path, writer, picks=1, compile_repairs=1, wrong_repairs=2)
    bench.drive()
    assert list(bench.statuses().values()) == ["rejected", "rejected", "failed"]


def test_the_critic_sends_a_draft_back_once_before_anything_is_compiled(tmp_path: Path) -> None:
    bench = Bench(tmp_path, critic=lambda step: Critique(False, ("the tail is not masked", "use float4")), picks=1)
    bench.drive()
    assert bench.statuses() == {"g001-e1-a0": "rejected", "g001-e1-a1": "accepted"}
    first = bench.attempts()["g001-e1-a0"]
    assert (first.evaluation_key, first.critique) == ("", "the tail is not masked\nuse float4")
    assert "the tail is not masked" in first.reason
    step = Step("table-run", 1, "g001-e1", 1)
    assert bench.author.repairs == [(step, ("the tail is not masked", "use float4"), None)]
    assert [role for role, _ in bench.author.asked].count("critique") == 1


def test_the_report_of_what_was_implemented_is_kept(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: Draft(faster(step, base), ("wider loads",), ("LDS padding",)), picks=1)
    bench.drive()
    made = bench.attempts()["g001-e1-a0"]
    assert (made.report, made.skipped) == (("wider loads",), ("LDS padding",))
    assert made.lesson.startswith("idea 1.0: +")


def malformed(step: Step, base: Specimen) -> str:
    if step.experiment_id == "g001-e1":
        raise MalformedReply("the coder gave no answer of the asked shape")
    return faster(step, base)


def test_a_writer_without_an_answer_fails_its_own_experiment_only(tmp_path: Path) -> None:
    bench = Bench(tmp_path, malformed)
    assert bench.drive().status == "done"
    assert bench.statuses() == {"g001-e1-a0": "failed", "g001-e2-a0": "accepted"}
    assert (bench.attempts()["g001-e1-a0"].code, bench.attempts()["g001-e1-a0"].reason) == (
        "A.2", "the coder gave no answer of the asked shape")


def test_a_broken_machine_stops_the_run_and_keeps_the_siblings_work(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// machine verify the lab cannot start its child", 99), picks=3)
    with pytest.raises(LabError, match="the lab cannot start its child"):
        bench.drive()
    run = bench.context.ledger.run(bench.context.run.id)
    assert (run.status, run.stop_reason) == ("paused", "the lab cannot start its child")
    assert bench.statuses() == {"g001-e2-a0": "accepted", "g001-e3-a0": "accepted"}
    asked, done = len(bench.author.asked), len(bench.sandbox.calls)
    with pytest.raises(LabError):
        bench.drive()
    again = {role for role, _ in bench.author.asked[asked:]}
    assert again <= {"write", "critique"}, "only the broken experiment is walked through again"
    assert [purpose for purpose, _ in bench.sandbox.calls[done:]] == ["verify"]


def test_an_empty_purse_pauses_the_run_and_a_fuller_one_resumes_it(tmp_path: Path) -> None:
    purse = {"is_empty": True}

    def writer(step: Step, base: Specimen) -> str:
        if step.experiment_id == "g001-e2" and purse["is_empty"]:
            raise BudgetExhausted("the next coder call could cost more than is left; resume with a larger budget")
        return faster(step, base)

    bench = Bench(tmp_path, writer)
    run = bench.drive()
    assert (run.status, "larger budget" in run.stop_reason) == ("paused", True)
    assert bench.statuses() == {"g001-e1-a0": "accepted"}
    purse["is_empty"] = False
    done = len(bench.sandbox.calls)
    assert bench.drive().status == "done"
    assert bench.statuses() == {"g001-e1-a0": "accepted", "g001-e2-a0": "accepted"}
    assert [purpose for purpose, _ in bench.sandbox.calls[done:]] == ["compile", "verify", "benchmark"]


def same(step: Step, base: Specimen) -> str:
    return f"// {step.experiment_id}\n// time_us = 100\n"


@pytest.mark.parametrize(("writer", "planner", "limits", "reason"), [
    (faster, ideas, {"generations": 2}, "all 2 generations are used"),
    (same, ideas, {"generations": 9, "stagnation": 2}, "no gain in 2 generations"),
    (lambda step, base: "// time_us = 10\n// roofline_us = 9.8\n", ideas, {"generations": 9, "picks": 1},
     "the best kernel reaches 98% of the roofline"),
    (faster, lambda generation: ideas(generation) if generation < 3 else [], {"generations": 9},
     "nothing is left to try"),
])
def test_each_reason_to_stop(tmp_path: Path, writer: Writer, planner: Any, limits: dict[str, Any], reason: str) -> None:
    bench = Bench(tmp_path, writer, planner=planner, **limits)
    run = bench.drive()
    assert (run.status, run.stop_reason) == ("done", reason)
    assert bench.told[-1]["event"] == "stopped"
    asked = len(bench.author.asked)
    assert bench.drive() == run
    assert len(bench.author.asked) == asked, "a run that is done is not run again"


def test_a_kernel_an_earlier_generation_had_is_not_timed_again(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        if step.generation == 1:
            return "// time_us = 50\n// code = fast\n"
        return base.source if step.experiment_id == "g002-e1" else "// renamed\n// time_us = 50\n// code = fast\n"

    bench = Bench(tmp_path, writer, generations=2)
    bench.drive()
    second = [a for a in bench.attempts().values() if a.generation == 2]
    assert [(a.status, a.reason) for a in second] == [
        ("duplicate", "the same kernel as g001-e1-a0, which was accepted")] * 2
    assert bench.did("benchmark") == 1 + 1 or bench.did("benchmark") == 1 + 2  # twins of one generation may race
    assert bench.did("verify") <= 2


PLAN = '/*+++\n[[launch]]\nkernel = "k"\ngrid = ["1"]\nblock = ["{block}"]\nargs = ["x"]\n+++*/\n'


def test_equal_device_code_with_another_launch_is_another_kernel(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        block = {"g001-e1": 64, "g002-e1": 256, "g003-e1": 64}[step.experiment_id]
        return f"{PLAN.format(block=block)}// {step.experiment_id}\n// code = same\n// time_us = {1000 / block}\n"

    bench = Bench(tmp_path, writer, generations=3, picks=1)
    bench.drive()
    assert [a.status for a in bench.attempts().values()] == ["accepted", "accepted", "accepted", "duplicate"]
    assert bench.attempts()["g003-e1-a0"].reason == "the same kernel as g001-e1-a0, which was accepted"


TUNABLE = PLAN.format(block="64 * ROWS").replace("+++*/", "[tunables]\nROWS = [4, 1, 2, 8]\n+++*/") + """
// tunable ROWS = 4, 1, 2, 8
// time_us = 40
// time_us[ROWS=1] = 30
// time_us[ROWS=2] = 20
// time_us[ROWS=8] = 10
"""


@pytest.mark.parametrize(("fails", "tunables", "time_us"), [
    ("", {"ROWS": 8}, 10), ("// fail verify[ROWS=8] wrong at 7\n", {"ROWS": 2}, 20),
    ("// fail compile[ROWS=8] no\n// fail verify[ROWS=2] hang\n// fail benchmark[ROWS=1] hang\n", {"ROWS": 4}, 40),
])
def test_the_best_tuned_choice_that_is_right_becomes_the_default(
        tmp_path: Path, fails: str, tunables: dict[str, int], time_us: float) -> None:
    bench = Bench(tmp_path, lambda step, base: TUNABLE + fails, picks=1)
    bench.drive()
    made = bench.attempts()["g001-e1-a0"]
    assert (made.status, dict(made.tunables)) == ("accepted", tunables)
    assert made.geomean_us == pytest.approx(time_us)
    assert f"ROWS = [{tunables['ROWS']}, " in bench.context.artefacts.text(made.source)
    result = bench.context.ledger.evaluation(made.evaluation_key)
    assert result is not None
    assert result.key == bench.sandbox.key(bench.context.artefacts.text(made.source), bench.context.assignment.task,
                                           tunables)


def test_no_more_estimates_than_allowed(tmp_path: Path) -> None:
    many = TUNABLE.replace("4, 1, 2, 8\n//", ", ".join(map(str, range(1, 60))) + "\n//")
    bench = Bench(tmp_path, lambda step, base: many, picks=1, tunings=7)
    bench.drive()
    assert bench.did("estimate") == 7


def test_every_seed_is_generation_zero_and_the_first_must_be_accepted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, faster, SEED, "// fail verify wrong at 3\n", "// time_us = 70\n")
    bench.drive()
    assert bench.statuses("g000") == {"g000-e0-a0": "accepted", "g000-e1-a0": "rejected", "g000-e2-a0": "accepted"}
    assert bench.attempts()["g001-e1-a0"].parent_id == "g000-e2-a0"
    started = next(e for e in bench.told if e["event"] == "best")
    assert (started["attempt"], started["speedup"]) == ("g000-e2-a0", pytest.approx(100 / 70))


def test_a_first_seed_that_is_wrong_ends_the_run_with_a_clear_sentence(tmp_path: Path) -> None:
    bench = Bench(tmp_path, faster, "// fail verify wrong at 3\n")
    with pytest.raises(TaskError, match="first seed of task table must be accepted before a run: wrong at 3"):
        bench.drive()
    assert bench.context.ledger.run("table-run").status == "failed"
    assert bench.author.asked == []


class Stubborn(ScriptedAuthor):
    def select(self, step: Step, work: Any, population: Sequence[Member]) -> Selection:
        if step.generation == 1:
            raise MalformedReply("the selector gave no answer of the asked shape")
        return Selection("g009-e9-a9", "g009-e9-a9", "made up")


def test_a_selector_that_names_no_kernel_of_the_population_gets_the_best_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, generations=2)
    bench.context = replace(bench.context, author=Stubborn(ideas, faster))
    bench.drive()
    made = {e.id: e for e in bench.context.ledger.experiments("table-run")}
    assert (made["g001-e1"].parent_id, made["g001-e1"].reference_id) == ("g000-e0-a0", None)
    assert (made["g002-e1"].parent_id, made["g002-e1"].reference_id) == ("g001-e2-a0", "g000-e0-a0")
    assert [e["message"] for e in bench.told if e["event"] == "warning"] == [
        "the selector gave no answer of the asked shape"]


class Ruins:
    def search(self, query: str, k: int, arch: str | None = None) -> tuple[str, ...]:
        raise KnowledgeError("the knowledge store is damaged; rebuild it")


def test_a_run_finishes_without_its_knowledge_store_and_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.context = replace(bench.context, literature=Ruins())
    assert bench.drive().status == "done"
    warnings = [e["message"] for e in bench.told if e["event"] == "warning"]
    assert warnings == ["the knowledge store is damaged; rebuild it"]


def test_what_is_told_is_what_the_ledger_keeps_but_for_the_money(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// fail compile no"), generations=2)
    bench.drive()
    kept = [{"event": e.kind, **e.payload} for e in bench.context.ledger.events("table-run")]
    told = [{name: value for name, value in e.items() if name != "usd"} for e in bench.told]
    assert sorted(map(dumps, kept)) == sorted(map(dumps, told))
    assert all(e["usd"] == 0.0 for e in bench.told)
    assert {e["event"] for e in told} == {"generation", "selected", "planned", "stage", "attempt", "best", "stopped"}


def test_later_plans_remember_what_failed_and_what_was_learnt(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// fail compile unknown name", 99), generations=2)
    bench.drive()
    first, second = bench.author.memories
    assert first.failures == first.lessons == ()
    assert "idea 1.0: A.1: unknown name (line 1)" in second.failures
    assert any(lesson.startswith("idea 1.4: +") for lesson in second.lessons)


def test_the_graph_runs_without_driver_or_checkpointer(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    state = build_graph().compile().invoke({"run_id": "table-run"}, context=bench.context)
    assert state["best_id"] == "g001-e2-a0"
    assert state["outcomes"] == {"g001-e1": "accepted", "g001-e2": "accepted"}
    assert bench.context.ledger.run("table-run").status == "done"


def test_a_graph_without_its_context_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pass context=Context"):
        build_graph().compile().invoke({"run_id": "r"})
    with pytest.raises(UsageError, match="started for run other"):
        build_graph().compile().invoke({"run_id": "other"}, context=Bench(tmp_path).context)


def test_the_narrowest_concurrency_still_gets_through(tmp_path: Path) -> None:
    bench = Bench(tmp_path, picks=3)
    run = drive(bench.context, tmp_path / "checkpoint.db", bench.told.append, max_concurrency=1)
    assert (run.status, len(bench.statuses())) == ("done", 3)


def test_a_run_that_is_driven_already_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.context.ledger.driving("table-run"), pytest.raises(LedgerError, match="already running"):
        bench.drive()
