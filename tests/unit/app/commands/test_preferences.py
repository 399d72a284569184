"""`preferences` writes pairs of a run's kernels with both sources, one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.author import Idea, Specimen, Step
from app.cli import run_command
from tests.support.scripted_run import Bench


def test_pairs_of_a_run_are_written_with_their_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = ("// time_us = 50\n", "// time_us = 70\n", "// time_us = 1\n// fail verify wrong\n")

    def write(step: Step, base: Specimen) -> str:
        return texts[int(step.experiment_id[-1]) - 1]

    def three(generation: int) -> list[Idea]:
        return [Idea(f"idea {n}", "", (), 1, 2, 3) for n in range(3)]

    bench = Bench(tmp_path / "runs", write, planner=three, picks=3, wrong_repairs=0)
    bench.drive()
    bench.context.ledger.close()
    assert run_command(["preferences", "last", "--out", "pairs.jsonl", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert summary["pairs"] == len(rows) == 3
    pairs = {(r["better_source"].split("\n")[0], r["worse_source"].split("\n")[0], r["reason"]) for r in rows}
    fast, slow, wrong = (text.split("\n")[0] for text in texts)
    assert pairs == {(fast, slow, "time"), (fast, wrong, "tier"), (slow, wrong, "tier")}
    assert run_command(["preferences", "nosuch"]) == 2
