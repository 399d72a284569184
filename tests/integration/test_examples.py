"""The kernels in examples/ are what runs ended with, and a judge still takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import run_command
from sandbox.candidate.limits import check_limits
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import choices, resolve
from sandbox.gpu.compile.dialect import dialect_of
from sandbox.gpu.compile.includes import refusals
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.transcript import Transcript

KERNEL = Path(__file__).parents[2] / "examples" / "fp8_block_gemm_mi300x.hip"


def test_the_example_is_the_winner_of_the_recorded_run_as_tuned() -> None:
    candidate, expected = parse(KERNEL.read_text(encoding="utf-8")), Transcript.read().expected
    assert candidate.id == expected["candidate_id"]
    assert dict(candidate.defaults()) == expected["tunables"]


@pytest.mark.parametrize("name", ["rms_norm", "row_softmax", "fp8_block_gemm"])
def test_the_examples_for_an_h200_fit_its_limits_on_every_case(name: str) -> None:
    source = (KERNEL.parent / f"{name}_h200.hip").read_text(encoding="utf-8")
    candidate, task, target = parse(source), load_task(name, "h200"), load_target("h200")
    assert not refusals(source, frozenset(dialect_of("nvrtc").includable), assembler_reads=False)
    for tunables in choices(candidate, task)[::7]:  # the default is the first
        for case in (*task.tests, *task.benchmarks):
            plan = resolve(candidate, task, case, tunables)
            assert not check_limits(plan, target), (tunables, case.name)


@pytest.mark.long
def test_check_accepts_the_example_kernel(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, compiler_cache: Path
) -> None:
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    assert run_command(["check", str(KERNEL), "--task", "fp8_block_gemm", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["accepted"], answer["stage"], answer["findings"]) == (True, "time", [])
    cases = answer["cases"]
    assert sum(case["correct"] is True for case in cases) >= 11
    assert not any(case["correct"] is False for case in cases)
    timed = [case for case in cases if case["time_us"] is not None]
    assert len(timed) == 18
    assert {case["time_kind"] for case in timed} == {"predicted"}
