"""The bench in a run: tries in the ledger, the best one recorded, what costs a try and what does not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from graph.workbench import MOST_SOURCE_BYTES
from tests.support.bench_run import BenchRun, Script, Writer, calling
from tests.support.endpoint import Answer, ScriptedEndpoint, Step


def kernel(time_us: float, *claims: str) -> str:
    return "\n".join([f"// time_us = {time_us}", "// roofline_us = 1", *claims, ""])


def answers(*turns: Step) -> Writer:
    """The same turns for every experiment; after them it submits."""
    return lambda title, turn, body: turns[turn] if turn < len(turns) else calling("submit")


def results(body: dict[str, Any]) -> list[str]:
    return [str(m["content"]) for m in body["messages"] if m["role"] == "tool"]


@pytest.mark.slow
def test_each_try_is_an_attempt_and_the_fastest_right_one_is_recorded(tmp_path: Path) -> None:
    script = Script(
        answers(
            calling("check", source=kernel(90, "// fail verify wrong at 7")),
            calling("check", source=kernel(60)),
            calling("check", source=kernel(70)),
            calling("submit", of="a2", implemented=["wide"], skipped=["tail: none"]),
        )
    )
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server)
        assert run.drive().status == "done"
    assert run.outcomes() == [
        ("g001-e1-a0", "rejected", "check"),
        ("g001-e1-a1", "tried", "check"),
        ("g001-e1-a2", "tried", "check"),
        ("g001-e1-a3", "accepted", ""),
    ]
    first, _, slower, best = run.attempts()
    assert "wrong at 7" in first.reason
    assert slower.geomean_us == pytest.approx(70)
    assert best.geomean_us == pytest.approx(60)
    assert (best.report, best.skipped) == (("wide",), ("tail: none",))
    assert best.candidate_id == run.attempts()[1].candidate_id
    purposes = [p for p, _ in run.context.sandbox.calls]  # type: ignore[attr-defined]
    assert purposes.count("benchmark") == 1 + 2, "the seed, and each right try once"
    run.close()


def test_a_text_that_was_checked_before_costs_neither_a_try_nor_the_sandbox(tmp_path: Path) -> None:
    same = calling("check", source=kernel(60))
    script = Script(answers(same, same, same, calling("check", source=kernel(50))))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, tries=2)
        run.drive()
    assert [status for _, status, _ in run.outcomes()] == ["tried", "tried", "accepted"]
    told = results(script.coder[-1])
    assert "no try was used up" in told[1]
    assert "1 try left" in told[2]
    assert "0 tries left" in told[3]
    run.close()


def test_no_more_kernels_are_checked_than_there_are_tries(tmp_path: Path) -> None:
    script = Script(lambda title, turn, body: calling("check", source=kernel(90 - turn)))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, tries=3)
        assert run.drive().status == "done"
    assert [status for _, status, _ in run.outcomes()] == ["tried"] * 3 + ["accepted"]
    assert run.attempts()[-1].geomean_us == pytest.approx(88)
    assert "no try is left" in results(script.coder[-1])[3]
    assert len(script.coder) == 3 + 3, "three refusals in a row end it without a submission"
    run.close()


def test_an_experiment_whose_tries_are_all_wrong_fails_and_the_run_goes_on(tmp_path: Path) -> None:
    script = Script(lambda title, turn, body: calling("check", source=kernel(50, f"// fail verify no {turn}")))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, tries=2, generations=2)
        assert run.drive().status == "done"
    first = [a for a in run.attempts() if a.generation == 1]
    assert [a.status for a in first] == ["rejected", "rejected", "failed"]
    assert first[-1].reason == "none of 2 tries is right; the last one: no 1 (line 1)"
    assert first[-1].code == "C.1"
    assert "no right kernel" in first[-1].lesson
    assert len([b for b in script.coder if b]) == 4, "nothing is asked after the last try"
    run.close()


def test_what_does_not_compile_is_a_try_and_is_told_with_the_compilers_words(tmp_path: Path) -> None:
    bad = calling("check", source=kernel(50, "// fail compile use of undeclared name foo"))
    script = Script(answers(bad, calling("check", changes=[{"old": "fail compile", "new": "was:"}])))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server)
        run.drive()
    assert [status for _, status, _ in run.outcomes()] == ["rejected", "tried", "accepted"]
    assert "use of undeclared name foo" in results(script.coder[1])[0]
    assert run.attempts()[0].stage == "compile"
    run.close()


def test_a_kernel_of_an_earlier_generation_is_a_duplicate_and_is_not_judged_again(tmp_path: Path) -> None:
    def writer(title: str, turn: int, body: dict[str, Any]) -> Step:
        return calling("check", source=kernel(60)) if turn == 0 else calling("submit")

    script = Script(writer)
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, generations=2)
        run.drive()
    assert ("g002-e1-a0", "duplicate", "check") in run.outcomes()
    assert run.attempts()[-1].status in ("failed", "duplicate")
    assert "no new kernel" in results(script.coder[-1])[0]
    run.close()


def test_what_was_tried_is_no_failure_and_no_parent(tmp_path: Path) -> None:
    script = Script(answers(calling("check", source=kernel(60)), calling("check", source=kernel(50))))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server)
        run.drive()
    memory = run.context.history.memory(2)
    members = run.context.history.members(2, "g001-e1-a2")
    assert memory.failures == ()
    assert [m.id for m in members] == ["g000-e0-a0", "g001-e1-a2"]
    run.close()


@pytest.mark.parametrize(
    ("claims", "asked"),
    [
        (("// waves = 8",), 0),
        (("// waves = 2",), 0),
        (("// waves = 8", "// scratch = 16"), 0),
        (("// slower",), 1),
        (("// waves = 8", "// fail verify race"), 1),
        (("// waves = 2", "// fail compile no"), 0),
    ],
)
def test_the_critic_is_asked_after_the_compiler_and_once_where_something_speaks_against_it(
    tmp_path: Path, claims: tuple[str, ...], asked: int
) -> None:
    first, second = (200, 199) if "// slower" in claims else (60, 59)
    script = Script(
        answers(calling("check", source=kernel(first, *claims)), calling("check", source=kernel(second, *claims))),
        lambda body: '{"remarks": ["tile 64 needs half the registers"], "approve": false}',
    )
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, seed=kernel(100, "// waves = 8"))
        run.drive()
    assert len(script.critic) == asked
    assert ("tile 64 needs half the registers" in results(script.coder[1])[0]) is bool(asked)
    assert (run.attempts()[0].critique == "tile 64 needs half the registers") is bool(asked)
    run.close()


def test_a_try_slower_than_its_parent_is_a_reason_to_ask_the_critic(tmp_path: Path) -> None:
    script = Script(answers(calling("check", source=kernel(130))))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server)
        run.drive()
    [told] = script.critic
    assert "1.30 times as long as its parent" in str(told["messages"][-1]["content"])
    run.close()


def test_kernels_are_found_by_name_and_siblings_are_not(tmp_path: Path) -> None:
    known, unknown = ("parent", "a0", "g001-e1-a0", "g000-e0-a0"), ("g001-e2-a0", "nobody")
    looks = [
        Answer(None, "tool_calls", tool_calls=tuple(("compare", {"of": n}) for n in names))
        for names in (known, unknown)
    ]

    def writer(title: str, turn: int, body: dict[str, Any]) -> Step:
        check = calling("check", source=kernel(60 if title.endswith("4") else 61))
        return [check, *looks, calling("submit")][turn]

    script = Script(writer)
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, picks=2)
        run.drive()
    last = next(b for b in script.coder if len(results(b)) == 7 and "g001-e1-a0" in results(b)[0])
    assert ["there is no kernel" in text for text in results(last)[1:]] == [False] * 4 + [True] * 2
    run.close()


def test_a_changed_kernel_is_estimated_within_a_bound_and_uses_up_no_try(tmp_path: Path) -> None:
    def writer(title: str, turn: int, body: dict[str, Any]) -> Step:
        if turn == 0:
            return calling("check", source=kernel(60))
        return calling("compare", changes=[{"old": "time_us = 60", "new": f"time_us = {60 + turn}"}])

    script = Script(writer)
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, tries=2, generations=1)
        run.drive()
    told = results(script.coder[-1])
    assert "estimated without being verified" in told[1]
    assert ["all 4 estimates" in text for text in told[1:]] == [False] * 4 + [True] * (len(told) - 5)
    assert [p for p, _ in run.context.sandbox.calls].count("estimate") == 4  # type: ignore[attr-defined]
    assert [status for _, status, _ in run.outcomes()] == ["tried", "accepted"]
    run.close()


def test_the_tools_off_the_writer_writes_without_them(tmp_path: Path) -> None:
    script = Script(
        lambda title, turn, body: (
            f'```hip\n/*+++\n+++*/\n{kernel(60)}```\n```json\n{{"implemented": [], "skipped": []}}\n```'
        )
    )
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, tries=0)
        run.drive()
    assert run.outcomes() == [("g001-e1-a0", "accepted", "")]
    assert "tools" not in script.coder[0]
    run.close()


def test_a_kernel_that_is_too_large_is_neither_stored_nor_a_try(tmp_path: Path) -> None:
    huge = kernel(60) + "// x" * (MOST_SOURCE_BYTES // 4)
    script = Script(answers(calling("check", source=huge)))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server)
        run.drive()
    assert [status for _, status, _ in run.outcomes()] == ["failed"]
    assert f"at most {MOST_SOURCE_BYTES} are taken" in results(script.coder[1])[0]
    run.close()


HALF = "/*+++ a right launch plan +++*/ const int /* \ud800 */ i = 0;"


@pytest.mark.slow
@pytest.mark.parametrize("in_text", [False, True])
def test_a_kernel_with_half_a_character_is_refused_and_the_writer_is_told(tmp_path: Path, in_text: bool) -> None:
    fenced = f"```tool\n{json.dumps({'tool': 'check', 'source': HALF})}\n```"
    first = fenced if in_text else calling("check", source=HALF)

    def writer(title: str, turn: int, body: dict[str, Any]) -> Step:
        told.append(str(body["messages"][-1]["content"]))
        return (first, calling("check", source=kernel(60)), calling("submit", of="a0"))[turn]

    told: list[str] = []
    with ScriptedEndpoint(Script(writer)) as server:
        run = BenchRun(tmp_path, server)
        assert run.drive().status == "done"
    assert "half of a character" in told[1]
    assert run.outcomes() == [("g001-e1-a0", "tried", "check"), ("g001-e1-a1", "accepted", "")]
    run.close()
