# task: bias_gelu
"""/*+++
[[launch]]
kernel = "bias_gelu"
grid = ["ceil_div(rows * cols, BLOCK)"]
args = ["x", "bias", "y", "rows * cols", "cols"]
constants = {BLOCK = "BLOCK"}

[tunables]
BLOCK = [256, 1024]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def bias_gelu(x, bias, y, count, cols, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    value = tl.load(x + places, mask=inside, other=0.0) + tl.load(bias + places % cols)
    inner = 0.7978845608028654 * (value + 0.044715 * value * value * value)
    tanh = 1.0 - 2.0 / (tl.exp(2.0 * inner) + 1.0)
    tl.store(y + places, 0.5 * value * (1.0 + tanh))  # BUG: out_of_bounds  # -
    tl.store(y + places, 0.5 * value * (1.0 + tanh), mask=inside)  # +
