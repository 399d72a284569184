"""The kernel in examples/ is what a run ended with, and it is still accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import run_command
from sandbox.plan import parse

from ..transcript import Transcript

KERNEL = Path(__file__).parents[2] / "examples" / "fp8_block_gemm_mi300x.hip"


def test_the_example_is_the_winner_of_the_recorded_run_as_tuned() -> None:
    candidate, expected = parse(KERNEL.read_text(encoding="utf-8")), Transcript.read().expected
    assert candidate.id == expected["candidate_id"]
    assert dict(candidate.defaults()) == expected["tunables"]


@pytest.mark.slow
def test_check_accepts_the_example_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", str(KERNEL), "--task", "fp8_block_gemm", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["accepted"], answer["stage"], answer["findings"]) == (True, "time", [])
    cases = answer["cases"]
    assert sum(case["correct"] is True for case in cases) >= 11
    assert not any(case["correct"] is False for case in cases)
    timed = [case for case in cases if case["time_us"] is not None]
    assert len(timed) == 18
    assert {case["time_kind"] for case in timed} == {"predicted"}
