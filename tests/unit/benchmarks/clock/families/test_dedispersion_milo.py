"""The header stands in the file, its sizes can be others to judge the code, and a row's values make the launch."""

from __future__ import annotations

from pathlib import Path

from benchmarks.clock.families.dedispersion_milo import code, points, resized
from benchmarks.clock.fetch import repository
from benchmarks.clock.kernel_tuner import REPOSITORY
from sandbox.candidate.prepare import prepare
from tasks.loader import load_task

HEADER = "#define nr_dms 2048\n#define nr_samples 25000\n#define nr_channels 1536\n"
CODE = """#include "hip/hip_runtime.h"
#include "dedispersion.h"
__global__ void dedispersion_kernel(const unsigned char * input, float * output, const float * shifts) {
    #pragma unroll loop_unroll_factor_channel
    for (int channel = 0; channel < nr_channels; channel++) {}
}
"""


def fetched(folder: Path) -> Path:
    """Made-up files in the place of the hub's."""
    fetched_folder = repository(REPOSITORY).folder(folder)
    (fetched_folder / "kernels" / "dedisp_milo").mkdir(parents=True)
    (fetched_folder / "kernels" / "dedisp_milo" / "dedispersion.cu.hip").write_text(CODE)
    (fetched_folder / "kernels" / "dedisp_milo" / "dedispersion.h").write_text(HEADER)
    return fetched_folder


def test_the_header_is_in_its_place_and_the_pragma_without_a_factor_is_gone(tmp_path: Path) -> None:
    text = code(fetched(tmp_path), "")
    assert HEADER in text and '#include "dedispersion.h"' not in text and "#pragma" not in text
    small = resized(text, 96, 70, 6)
    assert "#define nr_dms 96\n#define nr_samples 70\n#define nr_channels 6\n" in small


def test_the_launch_follows_from_the_values_of_the_row(tmp_path: Path) -> None:
    fetched(tmp_path)
    point = points(tmp_path)[-1]
    prepared = prepare(point.kernel.read_text(), load_task(point.task))
    assert prepared.refusal is None
    chosen, (launch,) = prepared.tunables, prepared.plan(prepared.task.benchmarks[0]).launches
    assert launch.grid[1] == -(-2048 // (chosen["block_size_y"] * chosen["tile_size_y"]))
