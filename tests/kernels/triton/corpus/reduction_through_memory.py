# task: reduction
"""/*+++
nondeterministic = true

[[launch]]
kernel = "total"
grid = ["ceil_div(n, 32 * WIDTH)"]
args = ["x", "y", "part", "n"]
constants = {WIDTH = "WIDTH"}
fill = {y = 0}

[tunables]
WIDTH = [128, 64]

[workspace]
part = ["f32", "32 * ceil_div(n, 32 * WIDTH)"]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def total(x, y, part, n, WIDTH: tl.constexpr):
    row = tl.arange(0, 32)
    place = tl.program_id(0) * 32 * WIDTH + row[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    sums = tl.sum(tl.load(x + place, mask=place < n, other=0.0), axis=1)
    own = part + tl.program_id(0) * 32 + row
    tl.store(own, sums)
    mine = tl.sum(tl.load(own), axis=0)  # BUG: race  # -
    mine = tl.sum(sums, axis=0)  # +
    tl.atomic_add(y, mine)
