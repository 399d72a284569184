# task: batched_gemv
"""/*+++
[[launch]]
kernel = "gemv"
grid = ["ceil_div(m, ROWS)", "batch"]
args = ["a", "x", "y", "m", "k"]
constants = {ROWS = "ROWS", DEPTH = 128}

[tunables]
ROWS = [16, 4]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def gemv(a, x, y, m, k, ROWS: tl.constexpr, DEPTH: tl.constexpr):
    batch = tl.program_id(1)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, DEPTH), tl.float32)
    for start in range(0, k, DEPTH):
        p = start + tl.arange(0, DEPTH)
        inside = (row[:, None] < m) & (p[None, :] < k)
        part = tl.load(a + (batch * m + row[:, None]) * k + p[None, :], mask=inside, other=0.0)
        total += part * tl.load(x + batch * k + p, mask=p < k, other=0.0)[None, :]
    tl.store(y + row, tl.sum(total, axis=1), mask=row < m)  # BUG: race  # -
    tl.store(y + batch * m + row, tl.sum(total, axis=1), mask=row < m)  # +
