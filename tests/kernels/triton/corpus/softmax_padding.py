# task: row_softmax
"""/*+++
[[launch]]
kernel = "softmax"
grid = ["rows"]
args = ["x", "y", "cols"]
constants = {BLOCK = "1 << log2(2 * cols - 1)"}
num_warps = 8
+++*/"""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + columns, mask=columns < cols, other=0.0)  # BUG: wrong_result  # -
    value = tl.load(x + row * cols + columns, mask=columns < cols, other=-float("inf"))  # +
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * cols + columns, power / tl.sum(power, axis=0), mask=columns < cols)
