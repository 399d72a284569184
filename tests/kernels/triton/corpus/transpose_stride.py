# task: transpose
"""/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(cols, TILE)", "ceil_div(rows, TILE)"]
args = ["x", "y", "rows", "cols"]
constants = {TILE = "TILE"}

[tunables]
TILE = [32, 64]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def transpose(x, y, rows, cols, TILE: tl.constexpr):
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)
    column = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    tile = tl.load(x + row[:, None] * cols + column[None, :], mask=inside)
    turned = tl.trans(tile)
    there = (column[:, None] < cols) & (row[None, :] < rows)
    tl.store(y + column[:, None] * cols + row[None, :], turned, mask=there)  # BUG: out_of_bounds  # -
    tl.store(y + column[:, None] * rows + row[None, :], turned, mask=there)  # +
