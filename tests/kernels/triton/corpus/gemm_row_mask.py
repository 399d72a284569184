# task: bf16_gemm
"""/*+++
[[launch]]
kernel = "gemm"
grid = ["ceil_div(m, TILE)", "ceil_div(n, TILE)"]
args = ["a", "b", "c", "m", "n", "k"]
constants = {TILE = "TILE", DEPTH = 32}
num_stages = 2

[tunables]
TILE = [64, 32, 128]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def gemm(a, b, c, m, n, k, TILE: tl.constexpr, DEPTH: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    p = tl.arange(0, DEPTH)
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, k, DEPTH):
        left = tl.load(a + i[:, None] * k + (start + p)[None, :])  # BUG: out_of_bounds  # -
        left = tl.load(a + i[:, None] * k + (start + p)[None, :], mask=i[:, None] < m, other=0.0)  # +
        right = tl.load(b + j[None, :] * k + (start + p)[:, None], mask=j[None, :] < n, other=0.0)
        total = tl.dot(left, right, total)
    inside = (i[:, None] < m) & (j[None, :] < n)
    tl.store(c + i[:, None] * n + j[None, :], total.to(tl.bfloat16), mask=inside)
