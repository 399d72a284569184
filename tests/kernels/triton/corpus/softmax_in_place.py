# task: row_softmax
"""/*+++
[[launch]]
kernel = "softmax"
grid = ["rows"]
args = ["x", "y", "cols"]
constants = {BLOCK = 256}
+++*/"""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    first = tl.program_id(0) * cols
    columns = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, cols, BLOCK):
        place = start + columns
        top = tl.maximum(top, tl.load(x + first + place, mask=place < cols, other=-float("inf")))
    peak = tl.max(top, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        place = start + columns
        power = tl.exp(tl.load(x + first + place, mask=place < cols, other=-float("inf")) - peak)
        tl.store(x + first + place, power, mask=place < cols)  # BUG: input_written  # -
        total += power
    whole = tl.sum(total, axis=0)
    for start in range(0, cols, BLOCK):
        place = start + columns
        power = tl.load(x + first + place, mask=place < cols, other=0.0)  # -
        power = tl.exp(tl.load(x + first + place, mask=place < cols, other=0.0) - peak)  # +
        tl.store(y + first + place, power / whole, mask=place < cols)
