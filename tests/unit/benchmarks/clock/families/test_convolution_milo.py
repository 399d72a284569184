"""A configuration's values become the plan's tunables, and the image's size can be another one to judge the code."""

from __future__ import annotations

from pathlib import Path

from benchmarks.clock.families.convolution_milo import points, resized
from benchmarks.clock.fetch import repository
from benchmarks.clock.kernel_tuner import REPOSITORY
from sandbox.candidate.prepare import prepare
from tasks.loader import load_task

CODE = """#include "hip/hip_runtime.h"
#define image_height 4096
#define image_width 4096
__constant__ float d_filter[33*33];
__global__ void convolution_kernel(float *output, float *input, float *filter) {}
"""


def test_the_launch_follows_from_the_values_of_the_row(tmp_path: Path) -> None:
    file = repository(REPOSITORY).folder(tmp_path) / "kernels" / "convolution_milo.cu.hip"
    file.parent.mkdir(parents=True)
    file.write_text(CODE)
    for point in points(tmp_path):
        prepared = prepare(point.kernel.read_text(), load_task(point.task))
        assert prepared.refusal is None
        chosen, launch = prepared.tunables, prepared.plan(prepared.task.benchmarks[0]).launches[-1]
        columns = chosen["block_size_x"] * chosen["tile_size_x"]
        assert launch.block == (chosen["block_size_x"], chosen["block_size_y"], 1)
        assert launch.grid[0] == -(-4096 // columns)
        assert f"block_size_x={launch.block[0]}," in point.label


def test_another_size_changes_both_sides_of_the_image() -> None:
    assert resized(CODE, 96).count(" 96\n") == 2
