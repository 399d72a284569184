"""Workgroups of a cooperative launch run at once: they may wait for the whole grid, and are never executed in part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from records.errors import LabError
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.asked_workgroups import chosen_of
from sandbox.lab.lab import Execution
from tests.support.lab_bench import execute, floats, launch

SOURCE = """#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void share(const float* x, float* part, float* y, int n) {
  cg::grid_group grid = cg::this_grid();
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
  for (int step = 32; step; step /= 2) sum += __shfl_xor(sum, step);
  if (threadIdx.x == 0) part[blockIdx.x] = sum;
  grid.sync();
  float total = 0;
  for (int i = 0; i < gridDim.x; i++) total += part[i];
  for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i] / total;
}
"""
N = 1000


def run(source: str, blocks: int = 7, *, together: bool = True) -> Execution:
    cooperative_launch = replace(launch("share", ["x", "part", "y", N], grid=[blocks]), cooperative=together)
    return execute(
        source, [cooperative_launch], {"x": floats(N)}, {"part": np.zeros(blocks, "f"), "y": np.zeros(N, "f")}, blocks=2
    )


def test_every_workgroup_is_behind_the_barrier_of_the_grid_before_one_goes_on() -> None:
    execution = run(SOURCE)
    assert not execution.findings
    assert execution.sampled_blocks == (7,)  # all of them, whatever is asked for
    assert np.allclose(execution.outputs["y"], floats(N) / floats(N).sum(), rtol=1e-5)


@pytest.mark.parametrize("instead", ["__syncthreads()", "__threadfence()"])
def test_what_orders_one_workgroup_does_not_order_the_grid(instead: str) -> None:
    kinds = {finding.kind for finding in run(SOURCE.replace("grid.sync()", instead)).findings}
    assert "race" in kinds <= {"race", "uninitialised"}  # where the reader was first, nothing was written yet


def test_a_workgroup_that_stays_away_is_reported_and_nothing_hangs() -> None:
    without_race = SOURCE.replace("part[i]", "1").replace("grid.sync()", "if (blockIdx.x != 3) grid.sync()")
    finding = run(without_race).findings[0]
    assert finding.kind == "divergent_barrier"
    assert "ended without it" in finding.message


def test_a_launch_that_is_not_cooperative_is_told_how_to_be() -> None:
    finding = run(SOURCE, together=False).findings[0]
    assert finding.kind == "timeout"
    assert "cooperative = true" in finding.message


def test_more_workgroups_than_can_run_at_once_are_refused() -> None:
    finding = run(SOURCE, 609).findings[0]
    assert finding.kind == "over_limit"
    assert "609 workgroups of share" in finding.message


def test_a_cooperative_launch_is_counted_whole() -> None:
    cooperative_launch = replace(launch("share", ["x", "part", "y", N], grid=[7]), cooperative=True)
    outputs = {"part": np.zeros(7, "f"), "y": np.zeros(N, "f")}
    execution = execute(SOURCE, [cooperative_launch], {"x": floats(N)}, outputs, count=True, workgroups=((3,),))
    assert not execution.findings
    assert execution.sampled_blocks == (7,)
    assert execution.launches[0].spread.executed == 7


def test_lists_of_workgroups_fit_their_launches() -> None:
    plan = ResolvedPlan((launch("k", [], grid=[5]),), {})
    assert chosen_of(plan, None, ((0, 4),)) == ((2,), ((0, 4),))
    for wrong in (((5,),), ((1, 1),), ((),), ((0,), (0,))):
        with pytest.raises(LabError):
            chosen_of(plan, None, wrong)
