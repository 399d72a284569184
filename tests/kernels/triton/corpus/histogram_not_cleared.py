# task: histogram
"""/*+++
[[launch]]
kernel = "count"
grid = ["ceil_div(n, BLOCK)"]
args = ["values", "counts", "n"]
constants = {BLOCK = "BLOCK"}
fill = {counts = 0}  # +

[tunables]
BLOCK = [1024, 256]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def count(values, counts, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    value = tl.load(values + place, mask=inside, other=0)
    tl.atomic_add(counts + value, 1, mask=inside)  # BUG: uninitialised  # -
    tl.atomic_add(counts + value, 1, mask=inside)  # +
