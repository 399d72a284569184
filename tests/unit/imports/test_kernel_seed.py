from __future__ import annotations

from imports.hosts.host_plan import HostPlan
from imports.hosts.values import DeviceBuffer, HostStep, Pointer
from imports.kernel_request import Matched
from imports.kernel_seed import seeds_of

MANIFEST = """
name = "double"
title = "Twice the input"
description = "y = 2 * x."
targets = ["mi300x"]

[work]
bytes = "8 * n"
flops = "n"
peak = "fp32_vector"

[tolerance]
ratio = 4.0

[[input]]
name = "x"
dtype = "f32"
shape = ["n"]

[[output]]
name = "y"
dtype = "f32"
shape = ["n"]

[[test]]
n = 100

[[benchmark]]
n = 4096
"""


def test_a_loop_that_repeats_launches_is_tried_once_first() -> None:
    x, t, y = (DeviceBuffer(name, "f32", "n") for name in "xty")
    loops, grid = (("turn", "0", "10", "1"),), ("ceil_div(n, 64)",)
    steps = tuple(
        HostStep("launch", k, grid, ("64",), "0", (Pointer(a), Pointer(b)), (True, False), loops=loops)
        for k, a, b in (("first", x, t), ("second", t, y))
    )
    plan = HostPlan({"n": 4096}, (x,), (y,), (t,), steps, {}, {}, {}, (), (), (), {})
    once, repeated = seeds_of(plan, Matched((), plan.inputs, {}, ()), MANIFEST, {}, "")
    assert once.count("[[launch]]") == 2 and "for = " not in once.split("+++*/")[0]
    assert "for = " in repeated.split("+++*/")[0]
