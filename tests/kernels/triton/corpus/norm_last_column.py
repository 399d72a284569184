# task: rms_norm
"""/*+++
[[launch]]
kernel = "rms_norm"
grid = ["rows"]
args = ["x", "w", "y", "cols", "eps"]
constants = {BLOCK = "1 << log2(2 * cols - 1)"}
num_warps = 8
+++*/"""

import triton
import triton.language as tl


@triton.jit
def rms_norm(x, w, y, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    value = tl.load(x + row * cols + column, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(w + column, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value * value, axis=0) / cols
    result = value / tl.sqrt(mean + eps) * scale
    last = cols - 1  # -
    last = cols  # +
    tl.store(y + row * cols + column, result.to(tl.bfloat16), mask=column < last)  # BUG: unwritten_output  # -
    tl.store(y + row * cols + column, result.to(tl.bfloat16), mask=column < last)  # +
