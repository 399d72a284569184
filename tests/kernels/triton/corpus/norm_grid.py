# task: layer_norm
"""/*+++
[[launch]]
kernel = "layer_norm"
grid = ["max(1, rows // ROWS)"]  # -
grid = ["ceil_div(rows, ROWS)"]  # +
args = ["x", "w", "b", "y", "rows", "cols", "eps"]
constants = {ROWS = "ROWS", BLOCK = 512}

[tunables]
ROWS = [4, 1]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def _mean(x, first, cols, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        place = start + tl.arange(0, BLOCK)
        total += tl.load(x + first + place, mask=place < cols, other=0.0)
    return tl.sum(total, axis=0) / cols


@triton.jit
def layer_norm(x, w, b, y, rows, cols, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0) * ROWS, min((tl.program_id(0) + 1) * ROWS, rows)):
        first = row * cols
        mean = _mean(x, first, cols, BLOCK)
        squares = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, cols, BLOCK):
            place = start + tl.arange(0, BLOCK)
            apart = tl.load(x + first + place, mask=place < cols, other=0.0) - mean
            squares += tl.where(place < cols, apart * apart, 0.0)
        scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
        for start in range(0, cols, BLOCK):
            place = start + tl.arange(0, BLOCK)
            inside = place < cols
            apart = tl.load(x + first + place, mask=inside, other=0.0) - mean
            value = apart * scale * tl.load(w + place, mask=inside, other=0.0) + tl.load(
                b + place, mask=inside, other=0.0
            )
            tl.store(y + first + place, value, mask=inside)  # BUG: unwritten_output  # -
            tl.store(y + first + place, value, mask=inside)  # +
