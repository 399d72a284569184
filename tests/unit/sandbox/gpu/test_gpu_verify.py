"""Outputs that were never written are told from outputs that are wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sandbox.gpu.gpu_verify import is_by_chance, unwritten
from sandbox.gpu.layout import Layout, lay_out, noise, set_seed, takes_b
from tasks.dtypes import size_bytes
from tasks.loader import load_task

COUNT, NOISE_SEED = 200_000, 11


def judged(dtype: str, outputs: np.ndarray, layout: Layout, seed: int) -> list[str]:
    task = load_task(Path(__file__).parents[3] / "kernels" / "exploits" / "tasks" / "scale")
    task = replace(task, outputs=(replace(task.outputs[0], dtype=dtype),))
    return [f.message for f in unwritten(task, layout, seed, {"y": outputs}, NOISE_SEED)]


def before(layout: Layout, seed: int) -> np.ndarray:
    """Byte by byte: what the output held."""
    buffer = layout["y"]
    words = noise(NOISE_SEED, layout.nbytes // 8).view(np.uint8)
    choice = takes_b(set_seed(seed, 0), 0, layout.blocks, is_whole=False)
    bytes_before = [
        words[offset] if choice[offset // 16] else 255 for offset in range(buffer.offset, buffer.offset + buffer.nbytes)
    ]
    return np.array(bytes_before, np.uint8)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "e4m3fn", "i32", "u8"])
def test_poison_that_is_left_is_told_and_chance_is_not(dtype: str) -> None:
    size = size_bytes(dtype)
    layout = lay_out([("y", "output", COUNT * size)])
    rng, bytes_before = np.random.default_rng(4), before(layout, 3)
    wrong = rng.integers(0, 127, COUNT * size, np.uint8)  # wrong, but written: bytes that meet the noise by chance
    assert judged(dtype, wrong, layout, 3) == []
    tile = slice(size * 1000, size * (1000 + COUNT // 10))
    wrong[tile] = bytes_before[tile]
    (message,) = judged(dtype, wrong, layout, 3)
    assert f"of {COUNT} elements of y are never written" in message
    assert f"the first is number {1000 if size > 2 else ''}" in message
    assert COUNT // 10 <= int(message.split()[0]) < COUNT // 9


def test_one_element_of_a_float_is_enough() -> None:
    layout = lay_out([("y", "output", 4 * 1000)])
    for number in range(0, 1000, 37):
        outputs, bytes_before = np.zeros(4000, np.uint8), before(layout, 3)
        outputs[4 * number : 4 * number + 4] = bytes_before[4 * number : 4 * number + 4]
        (message,) = judged("f32", outputs, layout, 3)
        assert message.startswith("1 of 1000") and f"number {number}:" in message


@pytest.mark.parametrize(
    ("count", "expected", "is_chance"),
    [(0, 1e-5, True), (1, 1e-5, False), (1, 0.053, True), (3, 0.053, False), (400, 50.0, True), (600, 50.0, False)],
)
def test_a_single_element_of_two_bytes_that_chance_writes_again_is_not_unwritten(
    count: int, expected: float, is_chance: bool
) -> None:
    assert is_by_chance(count, expected) == is_chance
