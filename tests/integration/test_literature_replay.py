"""The ablation of the literature, replayed in the lab: without it, once a generation, and on evidence.

The answers were written by one author who read the real prompts, those without literature first. What was written
once a generation differs from what was written on evidence by one search at the bench.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.wiring import StoredLiterature
from graph.context import Limits
from graph.drive import drive
from knowledge.store import KnowledgeStore
from tests.integration.test_bench_replay import context
from tests.support.endpoint import ScriptedEndpoint
from tests.support.recorded_bench import RecordedBench

NONE = "nearest_codeword_bench.jsonl"
NOTES = "nearest_codeword_notes_bench.jsonl"
SMALL = Limits(
    generations=1, picks=2, tries=3, tunings=1, explorations=0, ablations=0, answers=0, dispatch=False, memory_tokens=0
)
ONCE = replace(SMALL, writer_tokens=0, repairer_tokens=0, critic_tokens=0, search_tokens=0)
ARMS = {
    "without": (replace(ONCE, planner_tokens=0), NONE, 20.28, set()),
    "once": (ONCE, NOTES, 19.58, {"planner"}),
    "on evidence": (SMALL, NOTES, 19.58, {"planner", "writer", "critic", "search"}),
}


@pytest.mark.long
@pytest.mark.parametrize("arm", ARMS)
def test_the_row_of_an_arm_is_what_its_answers_lead_to(tmp_path: Path, arm: str) -> None:
    limits, file, best_us, readers = ARMS[arm]
    recorded = RecordedBench(file, "calls")
    if arm == "once":
        recorded.rows = [row for row in recorded.rows if [name for name, _ in row["calls"]] != ["search_notes"]]
    with ScriptedEndpoint(recorded) as server:
        replay = context(server.url, tmp_path, "calls", "nearest_codeword", limits)
        replay = replace(replay, literature=StoredLiterature(KnowledgeStore(tmp_path / "notes")))
        run = drive(replay, tmp_path / "checkpoint.db")
        assert len(server.requests) == len(recorded.rows)
    tried = [a for a in replay.ledger.attempts(run.id) if a.generation]
    assert sorted(a.status for a in tried) == ["accepted"] * 2 + ["tried"] * 6, "no draft was refused"
    assert min(a.geomean_us for a in tried) == pytest.approx(best_us, rel=0.01)
    readings = replay.ledger.readings(run.id)
    assert {reading.role for reading in readings} == readers
    talk = "\n".join(str(m["content"]) for body in recorded.coder for m in body["messages"])
    assert ("# Passages from the literature" in talk) == ("writer" in readers)
    replay.ledger.close()
