"""Both seeds of each shipped operation are accepted in the lab, and the second is predicted to be faster."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from app.cli import run_command
from tasks.loader import load_task

NAMES = (
    "bias_gelu",
    "scan",
    "reduction",
    "layer_norm",
    "batched_gemv",
    "bf16_gemm",
    "nearest_codeword",
    "moe_ffn",
    "mlp_backward",
    "conv_nhwc",
    "decode_attention",
    "top_k",
    "histogram",
    "int4_gemm",
)


def checked(name: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The verdicts of `check` on a task's seeds for mi300x."""
    rows = []
    for seed in load_task(name).seeds:
        code = run_command(["check", str(seed), "--task", name, "--json"])
        rows.append(json.loads(capsys.readouterr().out))
        assert code == 0, f"{seed.name}: {rows[-1]['findings']}"
    return rows


def predicted_us(verdict: dict[str, Any]) -> float:
    """The geometric mean over the benchmark cases."""
    times = [case["time_us"] for case in verdict["cases"] if case["time_us"] is not None]
    return math.exp(sum(map(math.log, times)) / len(times))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_seeds_are_right_and_the_second_is_faster(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    naive, better = checked(name, capsys)
    assert naive["accepted"] and better["accepted"]
    assert predicted_us(better) < predicted_us(naive)
