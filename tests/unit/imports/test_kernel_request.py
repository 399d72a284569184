from __future__ import annotations

import pytest

from imports.hosts.found_plan import found_plan
from imports.kernel_request import matched

LAUNCHER = """
__global__ void k(const float* a, float* b, int n) { }
void launch(const float* src, float* out, int n) { k<<<(n + 63) / 64, 64>>>(src, out, n); }
"""


@pytest.mark.parametrize(("names", "buffers"), [(["src"], ["src"]), (["x"], ["src"]), (["x", "y"], ["src", "out"])])
def test_a_launchers_buffers_are_matched_by_name_and_then_by_order(names: list[str], buffers: list[str]) -> None:
    match = matched(found_plan(LAUNCHER, entry_name="launch"), names)
    assert ([b.name for b in match.inputs], match.missing) == (buffers, ())


def test_what_is_left_over_in_another_number_is_asked_for() -> None:
    assert len(matched(found_plan(LAUNCHER, entry_name="launch"), ["x", "y", "z"]).missing) == 3
