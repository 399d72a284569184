# task: reduction
"""/*+++
nondeterministic = true

[[launch]]
kernel = "total"
grid = ["min(ceil_div(n, BLOCK), 64)"]
args = ["x", "y", "n"]
constants = {BLOCK = "BLOCK"}
fill = {y = 0}

[tunables]
BLOCK = [256, 1024]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def total(x, y, n, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        place = start + tl.arange(0, BLOCK)
        sums += tl.load(x + place, mask=place < n, other=0.0)
    mine = tl.sum(sums, axis=0)
    tl.store(y, tl.load(y) + mine)  # BUG: race  # -
    tl.atomic_add(y, mine)  # +
