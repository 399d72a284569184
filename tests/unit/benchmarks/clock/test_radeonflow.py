"""Several files as one candidate, and launches as they stand in a plan."""

from __future__ import annotations

import tomllib
from pathlib import Path

from benchmarks.clock.radeonflow import joined, launch, transpose

FILES = {
    "include/gpu_libs.h": "#include <hip/hip_runtime.h>\n",
    "include/gpu_types.h": "#pragma once\n#define __FP8_TYPE __hip_fp8_e4m3_fnuz\n",
    "src/utils/arithmetic.h": "constexpr int ceil_div(int x, int y) { return (x + y - 1) / y; }\n",
    "src/k.cpp": '#pragma once\n#include "../include/gpu_types.h"\nDEVICE_CODE_BELOW\n__global__ void k() {}\n',
}


def test_files_become_one_and_nothing_else_of_them_changes(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    lines = joined(tmp_path, "src/k.cpp").splitlines()
    assert not any(line.startswith(("#pragma once", '#include "')) for line in lines)
    expected = [line for text in FILES.values() for line in text.splitlines()]
    expected = [line for line in expected if not line.startswith(("#pragma once", '#include "'))]
    assert sorted(line for line in lines if line and not line.startswith("#define ")) == sorted(
        line for line in expected if not line.startswith("#define ")
    )
    assert "#define __FP8_TYPE __hip_fp8_e4m3_fnuz" in lines
    assert lines.index("#define DEVICE_CODE_BELOW") < lines.index("DEVICE_CODE_BELOW")


def test_a_launch_is_a_table_of_the_plan() -> None:
    launches = tomllib.loads(launch("k<1>", (4, 2), (256,), ("x", "y"), "m == 8"))["launch"]
    assert launches == [{"kernel": "k<1>", "grid": [4, 2], "block": [256], "args": ["x", "y"], "when": "m == 8"}]


def test_a_transpose_has_a_block_a_tile_and_a_work_item_a_group_of_bytes() -> None:
    (planned,) = tomllib.loads(transpose("y", "x", 256, 1024, (64, 512, 4), "True"))["launch"]
    assert planned["kernel"].endswith("<__FP8_TYPE, 256, 1024, 64, 512, 4>")
    assert (planned["grid"], planned["block"], planned["args"]) == ([16, 4], [16, 32], ["y", "x"])
