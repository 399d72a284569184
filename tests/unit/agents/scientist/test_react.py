"""The writer at the bench against models that misbehave: by tool calls and in text, each to a sound end."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.few import few

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.model.tools import PONG
from agents.scientist.react import MOST_ECHO_CHARS, most_turns
from tests.support.bench_run import BenchRun, Script, Writer, calling, writing
from tests.support.endpoint import Answer, Fault, ScriptedEndpoint, Step

RIGHT = "// time_us = 60\n// roofline_us = 1\n"
CHECK, SUBMIT = calling("check", source=RIGHT), calling("submit")
ENDED = [("g001-e1-a0", "tried", "check"), ("g001-e1-a1", "accepted", "")]


def turns(*steps: Step) -> Writer:
    """These turns, then a submission in the form of the first one."""
    rest = SUBMIT if isinstance(steps[0], Answer) else writing("submit")
    return lambda title, turn, body: steps[turn] if turn < len(steps) else rest


def last(script: Script, role: str = "tool") -> str:
    return str([m["content"] for m in script.coder[-1]["messages"] if m["role"] == role][-1])


def outcomes(folder: Path, script: Any, **options: Any) -> list[tuple[str, str, str]]:
    with ScriptedEndpoint(script) as server:
        run = BenchRun(folder, server, **options)
        assert run.drive().status == "done"
        found = run.outcomes()
    run.close()
    return found


@pytest.mark.parametrize(
    ("bad", "told"),
    few(
        [
            (Answer(None, tool_calls=(("check", '{"source": '),)), "are no JSON"),
            (Answer(None, tool_calls=(("check", "[1, 2]"),)), "must be a JSON object"),
            (Answer(None, tool_calls=(("check", '{"source": "// \\ud800"}'),)), "half of a character"),
            (Answer(None, tool_calls=(("check", '{"source": "// \\u0000"}'),)), "or NUL"),
            (Answer(None, tool_calls=(("check", {"source": 7}),)), "do not fit: source"),
            (Answer(None, tool_calls=(("check", {"changes": [{"old": "x"}]}),)), "do not fit: changes.0.new"),
            (Answer(None, tool_calls=(("check", {}),)), "there is no kernel"),
            (Answer(None, tool_calls=(("profile", {"of": "a0"}),)), "there is no tool 'profile'"),
            (Answer(None, tool_calls=(("", {}),)), "there is no tool ''"),
            (calling("isa"), "machine code is not shown"),
            (calling("search_notes", query="  "), "the query is empty"),
            (calling("submit"), "no kernel is right yet"),
            (calling("compare", of="a7"), "there is no kernel 'a7' here; there are parent"),
            (calling("compare", changes=[{"old": "", "new": "x"}]), "exactly once, and it does 0 times"),
            (calling("compare", changes=[{"old": "//", "new": "x"}]), "exactly once, and it does 2 times"),
        ],
        2,
    ),
)
def test_a_request_that_cannot_be_done_is_told_and_the_next_one_works(tmp_path: Path, bad: Answer, told: str) -> None:
    script = Script(turns(bad, CHECK))
    assert outcomes(tmp_path, script) == ENDED
    answered = [m["content"] for m in script.coder[1]["messages"] if m["role"] == "tool"]
    assert told in str(answered[0])


def test_what_a_server_cannot_read_is_never_sent_back_to_it(tmp_path: Path) -> None:
    script = Script(turns(Answer(None, tool_calls=(("check", '{"source": '), ("check", "[1]"))), CHECK))
    assert outcomes(tmp_path, script) == ENDED
    echoed = script.coder[1]["messages"][2]["tool_calls"]
    assert all("left_out" in call["function"]["arguments"] for call in echoed)
    assert [m["tool_call_id"] for m in script.coder[1]["messages"] if m["role"] == "tool"] == [c["id"] for c in echoed]


@pytest.mark.slow
@pytest.mark.parametrize("in_text", [False, True])
def test_a_request_with_a_megabyte_of_text_is_refused_and_not_repeated_in_the_talk(
    tmp_path: Path, in_text: bool
) -> None:
    huge = "// x\n" * 200_000
    first: Step = writing("check", huge) if in_text else calling("check", source=huge)
    script = Script(turns(first, writing("check", RIGHT) if in_text else CHECK))
    assert outcomes(tmp_path, script, tools="text" if in_text else "calls") == ENDED
    second = script.coder[1]["messages"]
    assert len(str(second)) < 2 * MOST_ECHO_CHARS
    assert "at most" in str(second[3]["content"])


def test_a_megabyte_of_words_is_cut_too(tmp_path: Path) -> None:
    script = Script(turns(Answer("word " * 200_000), CHECK))
    assert outcomes(tmp_path, script) == ENDED
    assert len(str(script.coder[1]["messages"])) < 2 * MOST_ECHO_CHARS


def test_checking_without_end_is_ended_and_the_best_is_recorded(tmp_path: Path) -> None:
    script = Script(lambda title, turn, body: CHECK)
    assert outcomes(tmp_path, script, tries=2) == ENDED
    assert len(script.coder) == most_turns(2)
    assert "This is your last turn" in last(script)


def test_parallel_calls_are_done_in_order_and_no_more_than_a_few(tmp_path: Path) -> None:
    several = tuple(("check", {"source": f"// time_us = {90 - n}\n"}) for n in range(6))
    script = Script(turns(Answer(None, "tool_calls", tool_calls=several)))
    found = outcomes(tmp_path, script, tries=5)
    assert [name for name, _, _ in found] == [f"g001-e1-a{n}" for n in range(5)]
    told = [str(m["content"]) for m in script.coder[1]["messages"] if m["role"] == "tool"]
    assert ["not done: at most 4" in text for text in told] == [False] * 4 + [True] * 2


def test_calls_behind_a_submission_are_not_done(tmp_path: Path) -> None:
    both = Answer(None, "tool_calls", tool_calls=(("submit", {}), ("check", {"source": "// time_us = 1\n"})))
    assert outcomes(tmp_path, Script(turns(CHECK, both))) == ENDED


@pytest.mark.parametrize(("claim", "status"), [("", "tried"), ("// fail verify wrong\n", "rejected")])
def test_a_kernel_that_is_submitted_unchecked_is_checked_first(tmp_path: Path, claim: str, status: str) -> None:
    script = Script(turns(calling("submit", source=RIGHT + claim), CHECK))
    found = outcomes(tmp_path, script)
    assert found[0] == ("g001-e1-a0", status, "submit")
    assert found[-1][1] == "accepted"
    assert len(script.coder) == (1 if status == "tried" else 3)
    if status == "rejected":
        assert "Not submitted, because it is not right" in str(script.coder[1]["messages"][-1]["content"])


def test_the_submission_of_a_wrong_try_is_refused(tmp_path: Path) -> None:
    wrong = calling("check", source="// time_us = 50\n// fail verify no\n")
    script = Script(turns(wrong, CHECK, calling("submit", of="a0")))
    assert outcomes(tmp_path, script)[-1] == ("g001-e1-a2", "accepted", "")
    assert "a0 is not right; submit g001-e1-a1" in last(script)


@pytest.mark.parametrize(
    "answer", [Answer(""), Answer(None), Answer("I cannot help with that."), Answer("", finish_reason="content_filter")]
)
def test_a_model_that_refuses_fails_its_experiment_and_no_more(tmp_path: Path, answer: Answer) -> None:
    script = Script(lambda title, turn, body: answer)
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, generations=2)
        assert run.drive().status == "done"
        failed = run.attempts()
    run.close()
    assert [(a.status, a.code) for a in failed] == [("failed", "A.2")] * 2
    assert "checked no kernel in 3 turns" in failed[0].reason
    assert "asks for no tool" in str(script.coder[2]["messages"][-1]["content"])


def test_an_answer_that_is_cut_off_twice_is_not_used(tmp_path: Path) -> None:
    cut = Answer(None, "length", tool_calls=(("check", {"source": "// time_us = 1\n"}),))
    script = Script(lambda title, turn, body: cut if turn == 0 else CHECK if turn == 1 else SUBMIT)
    assert outcomes(tmp_path, script) == ENDED
    assert [b["max_tokens"] for b in script.coder[:2]] == [16384, 32768]
    assert "cut off at the token limit" in str(script.coder[2]["messages"][-1]["content"])


def test_an_endpoint_that_takes_tools_and_answers_in_text_is_understood(tmp_path: Path) -> None:
    script = Script(turns(Answer(writing("check", RIGHT)), Answer(writing("submit", implemented=["wide"]))))
    assert outcomes(tmp_path, script) == ENDED
    assert script.coder[1]["messages"][-1]["role"] == "user"


def test_a_kernel_without_a_request_is_checked(tmp_path: Path) -> None:
    assert outcomes(tmp_path, Script(turns(Answer(f"```hip\n{RIGHT}```")))) == ENDED


def test_a_kernel_beside_a_call_needs_no_escapes(tmp_path: Path) -> None:
    assert outcomes(tmp_path, Script(turns(calling("check", f"So:\n```hip\n{RIGHT}```")))) == ENDED


def test_a_server_that_refuses_tools_later_is_asked_in_text(tmp_path: Path) -> None:
    def answer(title: str, turn: int, body: dict[str, Any]) -> Step:
        if turn and body.get("tools"):
            return Fault(400, "tools are not supported")
        return CHECK if not turn else writing("submit")

    script = Script(answer)
    assert outcomes(tmp_path, script) == ENDED
    told = script.coder[-1]["messages"]
    assert {m["role"] for m in told} == {"system", "user", "assistant"}
    assert "fenced as ```tool" in str(told[0]["content"])
    assert '"tool": "check"' in str(told[2]["content"])


def asked_first(pong: Step, writer: Writer) -> Any:
    script = Script(writer)

    def answer(body: dict[str, Any]) -> Step:
        offered = [t["function"]["name"] for t in body.get("tools") or ()]
        return pong if offered == [PONG.name] else script(body)

    return answer


@pytest.mark.parametrize(
    ("pong", "writer"),
    [
        (Answer(None, tool_calls=((PONG.name, {"answer": "pong"}),)), turns(CHECK)),
        ("pong", turns(writing("check", RIGHT))),
        (Fault(400, "unknown field"), turns(writing("check", RIGHT))),
    ],
)
def test_without_a_setting_the_model_is_asked_how_it_wants_its_tools(
    tmp_path: Path, pong: Step, writer: Writer
) -> None:
    assert outcomes(tmp_path, asked_first(pong, writer), tools="auto") == ENDED


@pytest.mark.parametrize("tools", ["calls", "text"])
def test_every_turn_is_paid_once_and_counted(tmp_path: Path, tools: str) -> None:
    steps = (CHECK, calling("compare")) if tools == "calls" else (writing("check", RIGHT), writing("compare"))
    script = Script(turns(*steps))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, tools=tools)
        run.drive()
        calls = [c for c in run.context.ledger.calls(run.context.run.id) if c.role == "coder"]
        spent, asked = run.context.ledger.spend(run.context.run.id), len(server.requests)
        run.context.ledger.finish(run.context.run.id, "paused")
        for file in tmp_path.glob("checkpoint.db*"):
            file.unlink()
        before = run.outcomes()
        run.drive()
        assert (len(server.requests), run.outcomes()) == (asked, before)
        assert run.context.ledger.spend(run.context.run.id) == spent
    run.close()
    assert len(calls) == 3
    assert all(c.state == "done" and c.usage.completion_tokens == 7 for c in calls)


def test_a_budget_that_is_used_up_in_the_middle_leaves_the_kernel_in_hand(tmp_path: Path) -> None:
    spent = {"prompt_tokens": 10, "completion_tokens": 10_000, "total_tokens": 10_010}
    dear = [replace(calling("check", source=f"// time_us = {n}\n"), usage=spent) for n in (60, 50)]
    script = Script(turns(*dear))
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, budget_usd=0.10, endpoint={"max_tokens": 30_000})
        ended, tried = run.drive(), run.outcomes()
        run.close()
    assert ended.status == "done"
    assert [status for _, status, _ in tried] == ["tried", "accepted"]
    assert len(script.coder) == 1, "a second turn could have cost more than is left"


def test_no_key_reaches_a_prompt_or_an_answer(tmp_path: Path) -> None:
    script = Script(turns(calling("check", source=RIGHT + "// sk-canary-5f2c91\n")))
    assert outcomes(tmp_path, script) == ENDED
    assert "sk-canary-5f2c91" not in str(script.coder[-1]["messages"])
    assert str(tmp_path) not in str(script.coder[-1])
    assert not script.coder[0].get("stream")
