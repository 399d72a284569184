"""Loops over tiles in LDS and in registers: what each item keeps for itself, what is shared, and what is left alone."""

from __future__ import annotations

import pytest

from agents.playbook.jam_moves import jam_variants, register_tile
from agents.playbook.stage_moves import loop_tile, stage_variants
from agents.source import KernelFile, read

ARCH = "gfx942"
TEXT = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 16)", "ceil_div(m, 8)"]
block = [16, 8]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* a, const float* b, float* c, int m, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        BODY
    }
}
"""
PRODUCT = "float s = 0; for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j]; c[i * n + j] = s;"


def kernel(body: str) -> KernelFile:
    return read(TEXT.replace("BODY", body))


def test_a_product_goes_through_tiles() -> None:
    changed = read(loop_tile(kernel(PRODUCT), "k"))
    assert "__shared__ float tile_0[DEPTH][8 * ITEMS_Y + 4];" in changed.code
    assert "__shared__ float tile_1[DEPTH][16 * ITEMS_X + 4];" in changed.code
    assert changed.code.count("= a[i * k + p];") == 2  # whole tiles, and those at the edges
    assert "s_each[i_item][j_item] += tile_0_part[i_item] * tile_1_part[j_item];" in changed.code
    assert "if (i < m && j < n) {" in changed.code
    assert changed.plan["launch"][0]["grid"] == ["ceil_div(n, 16 * ITEMS_X)", "ceil_div(m, 8 * ITEMS_Y)"]
    assert stage_variants(changed, ARCH, frozenset()) == ()


@pytest.mark.parametrize(
    "body",
    [
        PRODUCT,
        "float s, t; s = 0; t = 1; "
        "for (int p = 0; p < k; p++) { float u = a[i * k + p]; s += u * b[j + p * n]; t *= u; } "
        "c[i * n + j] = s / t;",
        "const float* row = a + i * k; double s = 0; "
        "for (int p = 0; p < k; ++p) { if (row[p] != 0) s += row[p] * b[p * n + j]; } c[i * n + j] = s;",
    ],
)
def test_a_product_however_it_is_written(body: str) -> None:
    file = kernel(body)
    assert stage_variants(file, ARCH, frozenset()) == ("k",)
    assert jam_variants(file, ARCH, frozenset()) == ("k",)


@pytest.mark.parametrize(
    "body",
    [
        PRODUCT.replace("b[p * n + j]", "b[p * n + j + i]"),  # of both axes
        PRODUCT.replace("s += a", "c[0] = s; s += a"),
        PRODUCT.replace("p < k", "p < i"),
        PRODUCT.replace("float s = 0", "float s = b[j]"),  # a load that lanes behind the bounds would do
        PRODUCT.replace("b[p * n + j]", "b[(int)s]"),
        PRODUCT.replace("; ++p) ", "; ++p) if (s < 9) ").replace("s +=", "if (p) break; s +="),
        PRODUCT.replace("float s", "float tile_lane"),
    ],
)
def test_loads_that_cannot_be_shared_are_left_alone(body: str) -> None:
    assert stage_variants(kernel(body), ARCH, frozenset()) == ()


def test_a_register_tile_keeps_each_item_s_own_variables_and_its_steps_in_order() -> None:
    changed = read(register_tile(kernel(PRODUCT), "k"))
    assert "float s_each[ITEMS_Y][ITEMS_X];" in changed.code
    assert "s_each[i_item][j_item] += a[i * k + p] * b[p * n + j];" in changed.code
    assert "c[i * n + j] = s_each[i_item][j_item];" in changed.code
    assert "if (i < m && j < n) {" in changed.code  # item by item at the edges
    assert "(long)i_first + ITEMS_Y <= (long)(m) && (long)j_first + ITEMS_X <= (long)(n)" in changed.code


@pytest.mark.parametrize(
    "body",
    [
        PRODUCT.replace("p < k", "p < j"),
        PRODUCT.replace("s += a", "if (s > 9) return; s += a"),
        PRODUCT.replace("s += a", "m += 1; s += a"),
        PRODUCT.replace("float s = 0;", "float s = 0; if (k > 9) s = 1;"),
        PRODUCT.replace("float s = 0;", "auto s = 0;"),
        PRODUCT + " " + PRODUCT.replace("float s", "s"),  # two loops
        "c[i * n + j] = a[i * k];",
        "if ((i + j) % 2) return; " + PRODUCT,
    ],
)
def test_what_is_not_certain_is_left_alone(body: str) -> None:
    assert jam_variants(kernel(body), ARCH, frozenset()) == ()
