"""The one sentence about a model with its kernels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exports.models.check.model_verdict import KernelEffect, ModelCheck, OutputCheck, forecast
from exports.models.check.speed import Ratio

RIGHT = OutputCheck(20, True, 0.98, 1.1, "float64")
USED = KernelEffect("A", 12, 0, speed=1.8, in_model=Ratio(1.03, 1.02, 1.04))
WORTHLESS = KernelEffect("B", 12, 0, speed=1.2, in_model=Ratio(1.0, 0.998, 1.002))
TIMED = ModelCheck(
    "Block",
    "NVIDIA H200",
    RIGHT,
    (USED, WORTHLESS),
    {"eager": 900.0, "torch.compile in a CUDA graph": 800.0},
    {},
    "torch.compile in a CUDA graph",
    "applied and compiled in a CUDA graph",
    Ratio(1.03, 1.02, 1.04),
    1.03,
    ("B",),
)


def test_a_kernel_that_is_faster_and_gives_the_model_nothing_is_to_be_left_out() -> None:
    assert WORTHLESS.is_worthless and not USED.is_worthless
    assert TIMED.sentence == (
        "Block: 1.030x (1.020 to 1.040) of the fastest of PyTorch's modes, torch.compile in a CUDA graph; forecast "
        "1.030; kernels alone: A 1.80x and B 1.20x; without B the model loses nothing: leave it out; outputs right on "
        "20 draws, their error 0.98 of eager's"
    )
    assert TIMED.accepted


def test_a_kernel_that_breaks_under_cuda_graphs_is_told_with_the_reason() -> None:
    breaking = replace(WORTHLESS, in_model=None, breaks_graphs="RuntimeError: operation not permitted when capturing")
    assert breaking.is_worthless
    sentence = replace(TIMED, kernels=(USED, breaking)).sentence
    assert "B breaks under CUDA graphs (RuntimeError: operation not permitted when capturing): leave it out" in sentence


def test_a_kernel_that_stands_nowhere_is_told_with_the_reason() -> None:
    unused = KernelEffect("B", 0, 2, ("it was not verified for float32[3, 64]",))
    checked = replace(TIMED, kernels=(USED, unused))
    assert "B is used nowhere (it was not verified for float32[3, 64]): leave it out" in checked.sentence
    without_device = ModelCheck("Block", "", RIGHT, (KernelEffect("A", 12, 0), unused), {}, {})
    assert without_device.sentence.startswith("Block: no device: times were not compared; A is used in 12 places")
    assert "B is used nowhere (it was not verified" in without_device.sentence and without_device.accepted


def test_wrong_outputs_are_all_that_is_said() -> None:
    wrong = replace(RIGHT, right=False, reason="the error of output 0 is 0.5 and was 0.01 without the kernels")
    checked = replace(TIMED, outputs=wrong)
    assert checked.sentence.startswith("Block: wrong with the kernels: the error of output 0") and not checked.accepted


def test_a_slower_model_is_refused_unless_no_kernel_is_kept() -> None:
    slower = replace(TIMED, gain=Ratio(0.97, 0.96, 0.98))
    assert not slower.accepted
    none = replace(slower, left_out=("A", "B"))
    assert none.accepted and "no kernel makes it faster" in none.sentence


def test_the_forecast_is_amdahls() -> None:
    assert forecast(100.0, [(2, 10.0, 5.0)]) == pytest.approx(100 / 90)
    assert forecast(100.0, [(1, 10.0, 5.0), (5, 2.0, 4.0)]) == pytest.approx(100 / 105)
