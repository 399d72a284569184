"""Split sums, loads a pass ahead and grids of fixed size: offered where their conditions hold, and nowhere else.

That they compute the same is shown in the lab by test_moves_in_lab.py.
"""

from __future__ import annotations

import pytest

from agents.playbook import moves
from agents.source import read
from sandbox.candidate.parse import parse

HEAD = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {
"""
ROW = "int r = blockIdx.x * 64 + threadIdx.x; if (r >= rows) return; "
SUM = f"{ROW} float s = 1; for (int j = 0; j < cols; ++j) s += x[r * cols + j]; y[r] = s;"
MAP = f"{ROW} y[r] = x[r];"


def offered(body: str, head: str = HEAD) -> set[str]:
    handles = moves.offers(read(f"{head}{body}\n}}\n"), "gfx942", frozenset())
    return {h.split(":")[0] for h in handles} & {"split_sum", "prefetch", "grid_stride"}


def applied(body: str, handle: str) -> str:
    text = moves.apply(f"{HEAD}{body}\n}}\n", handle, "gfx942", frozenset())
    parse(text)
    return text


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (SUM, {"split_sum", "prefetch"}),
        (MAP, {"grid_stride"}),
        (SUM.replace("s += x[r * cols + j]", "s = fmaxf(s, x[r * cols + j])"), {"prefetch"}),
        (SUM.replace("s += x[r * cols + j]", "{ s += x[r * cols + j]; y[r] = s; }"), {"prefetch"}),
        (SUM.replace("s += x", "if (s < 3) s += x"), set()),
        (SUM.replace("s += x[r * cols + j]", "if (j > 3) s += x[r * cols + j]"), {"split_sum"}),
        (SUM.replace("x[r", "y[r"), {"split_sum"}),
        (SUM.replace("x[r * cols + j]", "x[r * cols + int(x[j])]"), {"split_sum", "prefetch"}),
        (SUM.replace("if (r >= rows) return;", ""), {"prefetch"}),
        (SUM.replace("float s", "_Float16 s"), {"prefetch"}),
        (SUM + " y[0] = blockIdx.z;", {"prefetch"}),
        (MAP.replace("x[r]", "x[r] > 0 ? 1 : 2"), {"grid_stride"}),
        (MAP + " if (x[r] > 3) return;", set()),
    ],
)
def test_they_are_offered_where_they_apply(body: str, found: set[str]) -> None:
    assert offered(body) == found


def test_two_parameters_of_one_buffer_have_no_loads_ahead() -> None:
    """What is loaded early may be what the pass before stores."""
    assert "prefetch" not in offered(SUM, HEAD.replace('["x", "y", "rows", "cols"]', '["y", "y", "rows", "cols"]'))


def test_a_template_is_no_kernel_to_copy() -> None:
    assert offered(SUM, HEAD.replace('extern "C" __global__', "template <int N> __global__")) == {"prefetch"}


def test_a_split_sum_has_a_second_launch_and_room_for_the_parts() -> None:
    plan = parse(applied(SUM, "split_sum:k")).plan
    assert [(x.kernel, x.grid, x.args[-1]) for x in plan.launches] == [
        ("k", ("ceil_div(rows, 64)", "1", "SPLIT"), "partial_0"),
        ("k_join", ("ceil_div(rows, 64)",), "partial_0"),
    ]
    assert [(w.name, w.dtype, w.shape) for w in plan.workspaces] == [("partial_0", "f32", ("SPLIT", "rows"))]


def test_axes_that_are_blocks_only_have_parts_of_their_own() -> None:
    head = HEAD.replace('"ceil_div(rows, 64)"', '"ceil_div(rows, 64)", "batch"')
    text = moves.apply(f"{head}{SUM}\n}}\n", "split_sum:k", "gfx942", frozenset())
    assert parse(text).plan.workspaces[0].shape == ("SPLIT", "(batch)", "rows")
    assert "* (long)(gridDim.y) + blockIdx.y)" in text


def test_a_load_is_one_pass_ahead_and_no_further_than_the_last() -> None:
    text = " ".join(applied(SUM, "prefetch:k").split())
    assert "{ const int j = 0; if (j < cols) { ahead_0_0 = x[r * cols + j]; } }" in text
    assert "{ const int j = next_0; if (j < cols) { ahead_0_0 = x[r * cols + j]; } } s += now_ahead_0_0;" in text
    assert offered(text.partition("cols) {")[2].rsplit("}", 1)[0]) <= {"split_sum"}, "it is done once"


def test_a_grid_of_fixed_size_is_read_again_as_the_work_of_one_item() -> None:
    text = applied(MAP, "grid_stride:k")
    assert parse(text).plan.launches[0].grid == ("min(ceil_div(rows, 64), BLOCKS)",)
    again = moves.offers(read(text), "gfx942", frozenset())
    assert "items:k" in again
    assert not any(handle.startswith("grid_stride") for handle in again)
