"""Two generations by a real author behind the model, answered again from its transcript.

Everything between is real: the HTTP client, the JSON modes, the graph, the ledger, the compiler and the lab. The winner
is expected by its content, not by its time. When the lab's model of the GPU was changed on purpose and another of these
kernels wins now, look at the difference and make it the expected one:

    python -m tests.support.transcript refresh
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from agents.scientist.scientist import read_draft
from graph.context import Context
from graph.drive import drive
from records.evaluation import Evaluation
from records.experiment import Attempt, ModelCall
from sandbox.candidate.tuning import moved_to_front
from tests.support.endpoint import ScriptedEndpoint
from tests.support.transcript import PRICE, VERDICTS, Transcript, context, leader, verdicts

REFRESH = "; if the lab was changed on purpose, run: python -m tests.support.transcript refresh"


@pytest.mark.long
def test_a_real_authors_run_is_replayed_offline_to_the_same_best_kernel(tmp_path: Path) -> None:
    transcript = Transcript.read()
    with ScriptedEndpoint(transcript.answer) as server:
        replay = context(server.url, tmp_path)
        run = drive(replay, tmp_path / "checkpoint.db")
        request_count = len(server.requests)

        assert transcript.unknown == []
        assert transcript.served == set(transcript.lines), "a recorded answer was never asked for"
        assert request_count == len(transcript.lines)
        assert (run.status, run.stop_reason) == ("done", "all 2 generations are used")
        check_winner(replay, leader(replay), transcript)
        check_attempts({a.id: a for a in replay.ledger.attempts(run.id)})
        check_calls(replay.ledger.calls(run.id), transcript)

        # Without its checkpoint a run starts over and finds everything in the ledger.
        replay.ledger.finish(run.id, "paused")
        for file in tmp_path.glob("checkpoint.db*"):
            file.unlink()
        second = drive(replay, tmp_path / "checkpoint.db")
        assert (second.status, len(server.requests)) == ("done", request_count)
        assert leader(replay).candidate_id == transcript.expected["candidate_id"]
        check_verdicts(replay)
    replay.ledger.close()


def check_winner(replay: Context, best: Attempt, transcript: Transcript) -> None:
    """The recorded kernel, verified on every test shape, and not a character of it from anywhere but an answer."""
    winner = {name: getattr(best, name) for name in ("id", "candidate_id")} | {"tunables": dict(best.tunables)}
    expected = {"id": transcript.expected["best"], **{n: transcript.expected[n] for n in ("candidate_id", "tunables")}}
    assert winner == expected, f"another kernel is the best now, at {best.geomean_us:.1f} us predicted{REFRESH}"
    evaluation = replay.ledger.evaluation(best.evaluation_key, "benchmark")
    assert isinstance(evaluation, Evaluation)
    tests = {case.name for case in replay.assignment.task.tests}
    assert len(tests) == 11
    assert {row.name for row in evaluation.cases if row.role == "test" and row.correct} == tests
    assert all(row.correct for row in evaluation.cases)
    assert {row.executed for row in evaluation.cases if row.role != "benchmark"} == {1.0}
    timed = {row.name: row for row in evaluation.cases if row.role == "benchmark"}
    assert set(timed) == {case.name for case in replay.assignment.task.benchmarks}
    assert all(row.executed > 0 and row.compared > 0 for row in timed.values())  # drawn workgroups of each
    drafts = [read_draft(line.text) for line in transcript.lines.values() if line.role == "coder"]
    source = replay.artefacts.text(best.source)
    assert source in [moved_to_front(draft.source, best.tunables)[0] for draft in drafts]


def check_attempts(attempts: dict[str, Attempt]) -> None:
    """Every experiment ends accepted; four drafts went back, each with its own reason."""
    assert {name: a.status for name, a in attempts.items() if a.status != "accepted"} == {
        "g001-e3-a0": "rejected",
        "g002-e2-a0": "rejected",
        "g002-e3-a0": "rejected",
        "g002-e3-a1": "rejected",
    }
    assert {name for name, a in attempts.items() if a.status == "accepted" and a.generation} == {
        "g001-e1-a0",
        "g001-e2-a0",
        "g001-e3-a1",
        "g002-e1-a0",
        "g002-e2-a1",
        "g002-e3-a2",
    }
    overload, swizzle, first, name = (attempts[i] for i in ("g001-e3-a0", "g002-e2-a0", "g002-e3-a0", "g002-e3-a1"))
    assert (overload.stage, overload.code) == ("compile", "A.1")
    assert "no known conversion from 'const uintx2'" in overload.reason and "(line 46)" in overload.reason
    assert (swizzle.stage, swizzle.code) == ("correct", "C.1")
    assert "elements are wrong" in swizzle.reason and "expected" in swizzle.reason
    assert (first.stage, name.stage) == ("compile", "compile")
    assert first.reason == name.reason == "redefinition of 'turn'; line 73: previous definition is here (line 77)"


def check_verdicts(replay: Context) -> None:
    """Every verdict, code, finding and predicted time is the stored one."""
    stored = [json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines()]
    rows = verdicts(replay)
    assert [{**row, "times_us": None} for row in rows] == [{**row, "times_us": None} for row in stored], REFRESH
    for new, old in zip(rows, stored, strict=True):
        assert new["times_us"] == pytest.approx(old["times_us"], rel=1e-12), REFRESH


def check_calls(calls: tuple[ModelCall, ...], transcript: Transcript) -> None:
    """Each answer is one paid call, with the tokens that the endpoint counted."""
    assert {call.state for call in calls} == {"done"}
    paid = Counter((c.role, c.usage.prompt_tokens, c.usage.completion_tokens) for c in calls)
    assert paid == Counter((x.role, x.prompt_tokens, x.completion_tokens) for x in transcript.lines.values())
    for call in calls:
        cost = PRICE.cost_usd(call.usage.prompt_tokens, call.usage.completion_tokens)
        assert call.usage.usd == pytest.approx(cost)
