# task: transpose
"""/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(cols, TILE)", "ceil_div(rows, TILE)"]
args = ["x", "y", "tiles", "rows", "cols"]
constants = {TILE = "TILE"}

[tunables]
TILE = [32, 64]

[workspace]
tiles = ["f32", "ceil_div(rows, TILE) * ceil_div(cols, TILE) * TILE * TILE"]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def transpose(x, y, tiles, rows, cols, TILE: tl.constexpr):
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)
    column = tl.program_id(0) * TILE + tl.arange(0, TILE)
    own = tiles + (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)) * TILE * TILE
    inner = tl.arange(0, TILE)
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    tile = tl.load(x + row[:, None] * cols + column[None, :], mask=inside, other=0.0)
    tl.store(own + inner[:, None] * TILE + inner[None, :], tile)
    tl.debug_barrier()  # +
    turned = tl.load(own + inner[None, :] * TILE + inner[:, None])  # BUG: race  # -
    turned = tl.load(own + inner[None, :] * TILE + inner[:, None])  # +
    there = (column[:, None] < cols) & (row[None, :] < rows)
    tl.store(y + column[:, None] * rows + row[None, :], turned, mask=there)
