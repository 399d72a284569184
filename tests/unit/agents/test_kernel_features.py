"""Numbers of a kernel's text: renames and comments do not count, changes of what the code does."""

from __future__ import annotations

import re

import pytest

from agents.kernel_features import features

KERNEL = """/*+++
[[launch]]
kernel = "scale"
grid = ["ceil_div(n, BLOCK * WIDE)"]
block = ["BLOCK"]
args = ["x", "y", "n"]

[tunables]
BLOCK = [256, 64]
WIDE = [4, 1]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void scale(const float* x, float* y, int n) {
    const int first = (blockIdx.x * BLOCK + threadIdx.x) * WIDE;
    float kept[WIDE];
    for (int i = 0; i < WIDE; ++i) kept[i] = first + i < n ? x[first + i] : 0.0f;
#pragma unroll
    for (int i = 0; i < WIDE; ++i) if (first + i < n) y[first + i] = 2.0f * kept[i];
}
"""
TUNED = {"BLOCK": 256, "WIDE": 4}
NAMES = {
    "scale": "k1",
    "first": "at",
    "kept": "held",
    "x": "source",
    "y": "target",
    "BLOCK": "THREADS",
    "WIDE": "ITEMS",
}


def test_names_comments_and_spacing_do_not_count() -> None:
    other = re.sub(r"(?<![\w.])(?:" + "|".join(NAMES) + r")\b", lambda m: NAMES[m.group()], KERNEL)
    other = other.replace("    float", "    // for (;;) atomicAdd(p, 1);\n\n        float")
    assert other != KERNEL
    assert features(other, {"THREADS": 256, "ITEMS": 4}) == features(KERNEL, TUNED)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("y[first", "atomicAdd(&y[0], 1.0f); y[first", "atomics"),
        ("2.0f * kept[i]", "__shfl_down(kept[i], 1)", "shuffles"),
        ("    float kept", "    __syncthreads();\n    float kept", "barriers"),
        ("const float* x", "const float* __restrict__ x", "restrict"),
        ("2.0f * kept[i]", "expf(kept[i])", "roots_and_powers"),
    ],
)
def test_what_the_code_does_counts(old: str, new: str, name: str) -> None:
    before, after = features(KERNEL, TUNED), features(KERNEL.replace(old, new), TUNED)
    assert after[name] > before[name]


def test_a_tunable_counts_where_it_is_read() -> None:
    before, block, wide = (features(KERNEL, {**TUNED, **own}) for own in ({}, {"BLOCK": 64}, {"WIDE": 1}))
    changed = [{name for name in before if other[name] != before[name]} for other in (block, wide)]
    assert changed == [
        {"tuned_grid", "tuned_block", "tuned_code"},
        {"tuned_grid", "tuned_sizes", "tuned_headers", "tuned_code"},
    ]


def test_a_text_without_a_plan_has_none() -> None:
    assert features("int main() {}", {}) == {}
