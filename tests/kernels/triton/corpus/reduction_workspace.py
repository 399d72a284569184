# task: reduction
"""/*+++
[[launch]]
kernel = "parts"
grid = ["ceil_div(n, 4096)"]
args = ["x", "part", "n"]
constants = {BLOCK = 4096}

[[launch]]
kernel = "whole"
grid = [1]
args = ["part", "y", "ceil_div(n, 4096)"]
constants = {BLOCK = 4096}

[workspace]
part = ["f32", 4096]
+++*/"""

import triton
import triton.language as tl


@triton.jit
def parts(x, part, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + place, mask=place < n, other=0.0), axis=0))


@triton.jit
def whole(part, y, count, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    value = tl.load(part + place)  # BUG: uninitialised  # -
    value = tl.load(part + place, mask=place < count, other=0.0)  # +
    tl.store(y, tl.sum(value, axis=0))
