"""Executions of a share of the workgroups: the spread, the mask, the lists."""

from __future__ import annotations

import numpy as np
import pytest

from records.errors import LabError
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, ExecutionRequest
from tests.support.lab_bench import HEAD, build, execute, lab, launch


def test_a_sample_of_workgroups_is_spread_evenly_and_its_mask_is_exact() -> None:
    execution = execute(
        """
__global__ void k(float* y) { y[blockIdx.x * 64 + threadIdx.x] = blockIdx.x; }
""",
        [launch("k", ["y"], [100])],
        {},
        {"y": np.zeros(6400, np.float32)},
        blocks=4,
    )
    assert execution.sampled_blocks == (4,) and execution.executed == 0.04
    mask = execution.masks["y"].reshape(100, 64)
    assert np.flatnonzero(mask.any(axis=1)).tolist() == [0, 33, 66, 99]
    assert mask[33].all() and (execution.outputs["y"].reshape(100, 64)[33] == 33).all()


NUMBERED = "__global__ void k(float* y) { y[blockIdx.x * 64 + threadIdx.x] = blockIdx.x; }"


def test_the_workgroups_of_a_list_are_executed_and_no_others() -> None:
    chosen = (99, 3, 4, 57)
    execution = execute(
        NUMBERED, [launch("k", ["y"], [100])], {}, {"y": np.zeros(6400, np.float32)}, workgroups=(chosen,)
    )
    assert execution.findings == () and execution.sampled_blocks == (4,) and execution.executed == 0.04
    mask = execution.masks["y"].reshape(100, 64)
    assert np.flatnonzero(mask.any(axis=1)).tolist() == sorted(chosen)
    assert all((execution.outputs["y"].reshape(100, 64)[n] == n).all() for n in chosen)


def test_a_list_belongs_to_its_launch_and_counts_rows_of_the_grid_first() -> None:
    source = f"{NUMBERED}\n__global__ void g(int* z) {{ z[blockIdx.y * 7 + blockIdx.x] = 1; }}"
    execution = execute(
        source,
        [launch("k", ["y"], [5]), launch("g", ["z"], [7, 3])],
        {},
        {"y": np.zeros(320, np.float32), "z": np.zeros(21, np.int32)},
        workgroups=(None, (8, 20)),
    )
    assert execution.findings == () and execution.sampled_blocks == (5, 2)
    assert execution.masks["y"].all() and np.flatnonzero(execution.masks["z"]).tolist() == [8, 20]


def test_many_workgroups_have_large_outputs_of_their_own() -> None:
    names = [f"y{number}" for number in range(24)]
    program = build(HEAD + NUMBERED, [launch("k", ["y0"], [100])])
    execution = lab().execute(
        ExecutionRequest(
            program,
            ResolvedPlan(tuple(launch("k", [name], [100]) for name in names), {}),
            [Buffer(name, np.empty(32 << 20, np.float32), "output") for name in names],
            deadline_s=20.0,
            workgroups=tuple((number,) for number in range(24)),
            pieces=True,
        )
    )
    assert execution.findings == () and all(execution.pieces[name].positions.size == 64 for name in names)


@pytest.mark.parametrize("lists", [((),), ((1, 1),), ((100,),), ((-1,),), (None, None)])
def test_a_list_that_does_not_fit_the_launch_is_refused(lists: tuple[tuple[int, ...] | None, ...]) -> None:
    with pytest.raises(LabError, match="give"):
        execute(NUMBERED, [launch("k", ["y"], [100])], {}, {"y": np.zeros(6400, np.float32)}, workgroups=lists)


def test_a_race_between_the_first_workgroup_and_another_is_found() -> None:
    group = "(blockIdx.x == 50 ? 0 : blockIdx.x)"
    source = f"__global__ void k(float* y) {{ y[{group} * 64 + threadIdx.x] = blockIdx.x; }}"
    execution = execute(source, [launch("k", ["y"], [100])], {}, {"y": np.zeros(6400, np.float32)})
    assert [f.kind for f in execution.findings] == ["race"]


def test_atomics_on_an_output_mean_that_workgroups_do_not_own_what_they_write() -> None:
    store = "__hip_atomic_store(y, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)"
    source = f"__global__ void k(unsigned* y) {{ {store}; }}"
    execution = execute(source, [launch("k", ["y"], [100])], {}, {"y": np.zeros(1, np.uint32)}, workgroups=((3, 50),))
    assert execution.sampled_blocks == (2,) and not execution.ownership_valid
