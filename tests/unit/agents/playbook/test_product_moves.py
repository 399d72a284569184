"""Products of matrices told from naive text: however it is written, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.playbook.moves import apply, offers
from agents.source import KernelFile, read
from sandbox.lab.lab_evaluator import LabEvaluator
from tasks.loader import load_task
from tests.support.lab_bench import evaluator as lab_evaluator

ARCH = "gfx942"
OWN = Path("benchmarks/kernels/own/small_gemm")
TEXT = """/*+++
[[launch]]
kernel = "k"
grid = GRID
block = BLOCK
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const TYPE* a, const TYPE* b, float* c, int m, int n, int k) {
    BODY
}
"""
PLANE = "int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x; "
LOOP = "if (i < m && j < n) { float s = 0; for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j]; STORE }"
LOOP = LOOP.replace("STORE", "c[i * n + j] = s;")
PLAIN = PLANE + LOOP
FLAT = "int t = blockIdx.x * blockDim.x + threadIdx.x; if (t >= m * n) return; int i = t / n; int j = t % n; "
MOVING = (
    "int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y; if (i >= m || j >= n) return; "
    "const float *x = a + (size_t)i * k, *y = b + j; float s = 0; int p = 0; "
    "while (p < k) { s = fmaf(x[p], y[p * n], s); p++; } c[i * n + j] = s > 0 ? s : 0;"
)


def kernel(body: str, kind: str = "float") -> KernelFile:
    is_flat = "blockIdx.y" not in body
    first = (
        '["ceil_div(m, 16)", "ceil_div(n, 16)"]'
        if "i = blockIdx.x" in body
        else '["ceil_div(n, 16)", "ceil_div(m, 16)"]'
    )
    text = TEXT.replace("GRID", '["ceil_div(m * n, 256)"]' if is_flat else first)
    return read(text.replace("BLOCK", "[256]" if is_flat else "[16, 16]").replace("BODY", body).replace("TYPE", kind))


def ways(file: KernelFile, arch: str = ARCH) -> list[str]:
    return [h for h in offers(file, arch, frozenset("mnk")) if "_tiles" in h]


NAMED = "float s = 0; for (int p = 0; p < k; p++) { float u = a[i * k + p]; s = s + u * b[p * n + j]; } c[t] = s;"
HALF = PLAIN.replace("a[i * k + p] * b[p * n + j]", "(float)a[i * k + p] * (float)b[p * n + j]")
BOTH = ["fused_tiles:k", "matrix_tiles:k"]


@pytest.mark.parametrize(
    "body",
    [
        PLAIN,
        MOVING,
        FLAT
        + "float s = 0; for (int p = 0; p < k; p++) { float u = a[i * k + p]; s = s + u * b[p * n + j]; } c[t] = s;",
        PLAIN.replace("a[i * k + p]", "2.0f * a[i * k + p]"),
        PLAIN.replace("float s = 0", "float s = b[j]"),
        PLAIN.replace("b[p * n + j]", "b[j * k + p]"),
        PLAIN.replace("a[i * k + p]", "a[p * m + i]"),
    ],
)
def test_a_product_however_it_is_written(body: str) -> None:
    assert ways(kernel(body)) == BOTH[:1]


@pytest.mark.parametrize(
    "body",
    [
        PLAIN.replace("b[p * n + j]", "b[p * n + j + i]"),  # of both axes
        PLAIN.replace("s += a", "c[0] = s; s += a"),
        PLAIN.replace("s += a", "s += s * a"),
        PLAIN.replace("a[i * k + p] *", "a[i * k + p] +"),
        PLAIN.replace("b[p * n + j]", "a[p]"),  # of one axis alone
        PLAIN.replace("s += a[i * k + p]", "if (a[p] > 0) s += a[i * k + p]"),
        PLAIN.replace("c[i * n + j] = s", "for (int q = 0; q < 2; ++q) c[q] = s"),
        FLAT.replace("t % n", "t % m") + LOOP,
    ],
)
def test_what_is_no_product_is_left_alone(body: str) -> None:
    assert ways(kernel(body)) == []


def test_the_type_of_the_elements_chooses_the_instruction() -> None:
    half = kernel(HALF, "_Float16")
    assert "mfma_f32_32x32x8f16" in apply(half.source, BOTH[1], ARCH, frozenset())
    assert ways(half) == BOTH and ways(half, "sm_90") == BOTH[:1]
    assert ways(kernel(HALF.replace("float s", "double s"), "_Float16")) == BOTH[:1]  # the matrix cores would round


def test_two_axes_of_one_number_are_planar() -> None:
    changed = read(apply(kernel(FLAT + NAMED).source, BOTH[0], ARCH, frozenset()))
    [grid] = changed.plan["launch"][0]["grid"]
    assert grid == "ceil_div(m, WAVESI * TILESI * 8) * ceil_div(n, WAVESJ * TILESJ * 8)"
    assert not ways(changed)


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(3)


@pytest.mark.long
@pytest.mark.parametrize("body", [PLAIN, MOVING.replace("s > 0 ? s : 0", "s"), FLAT + NAMED])
def test_the_tiles_are_right(body: str, evaluator: LabEvaluator) -> None:
    task, text = load_task(OWN), apply(kernel(body).source, BOTH[0], ARCH, frozenset())
    verdict = evaluator.verify(evaluator.prepare(text, task)).verdict
    assert verdict.accepted, verdict.findings
