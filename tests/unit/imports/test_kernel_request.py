from __future__ import annotations

import pytest

from imports.hosts.host_plan import HostPlan
from imports.hosts.values import DeviceBuffer
from imports.kernel_request import matched

SRC, OUT = DeviceBuffer("src", "f32", "n", host="a"), DeviceBuffer("out", "f32", "n")
PLAN = HostPlan({"n": 8}, (SRC, OUT), (OUT,), (), (), {}, {}, {}, (), (), (), {})


@pytest.mark.parametrize(("names", "buffers"), [(["src"], ["src"]), (["x"], ["src"]), (["x", "y"], ["src", "out"])])
def test_a_launchers_buffers_are_matched_by_name_and_then_by_order(names: list[str], buffers: list[str]) -> None:
    match = matched(PLAN, names)
    assert ([b.name for b in match.inputs], match.missing) == (buffers, ())


def test_what_is_left_over_in_another_number_is_asked_for() -> None:
    assert len(matched(PLAN, ["x", "y", "z"]).missing) == 3
