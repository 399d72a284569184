"""HIP's header comes first, as its compilers read it; the headers of host libraries go or become one of ours."""

from __future__ import annotations

import pytest

from sandbox.candidate.host_headers import with_device_headers

PLAN = "/*+++\n[[launch]]\n+++*/"


def test_the_header_stands_behind_the_plan_and_no_line_moves() -> None:
    made = with_device_headers(f"{PLAN}\n#include <vector>\nint x;\n")
    assert made == f"{PLAN} #include <hip/hip_runtime.h>\n#include <vector>\nint x;\n"
    assert with_device_headers(made) == made


@pytest.mark.parametrize(
    "text",
    [
        f"{PLAN}\n// words\n#include <hip/hip_runtime.h>\nint x;\n",
        f"{PLAN} int x;\n",
        "#include <vector>\n",
        f"{PLAN}\n//+++ part one\n{PLAN}\nint x;\n",
    ],
)
def test_a_file_that_has_it_or_has_no_one_plan_stays(text: str) -> None:
    assert with_device_headers(text) == text


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("#include <torch/cuda.h>", "#include <torch/types.h>"),
        ("  #include <ATen/cuda/CUDAEvent.h>  // words", "  #include <torch/types.h>"),
        ("#include <ATen/cuda/Atomic.cuh>", "#include <ATen/cuda/Atomic.cuh>"),
        ("#include <THC/THC.h>", "#include <torch/types.h>"),
        ("#include <c10/util/Half.h>", "#include <c10/util/Half.h>"),
        ('#include "c10/cuda/CUDAGuard.h"', "#include <torch/types.h>"),
        ("#include <nvtx3/nvToolsExtCudaRt.h>", ""),
        ("#include <hip/hiprtc.h>", ""),
        ("#include <mpi.h>", ""),
        ("#include <tvm/ffi/error.h>", ""),
        ("#include <cudaTypedefs.h>", ""),
        ("#include <linux/limits.h>", ""),
        ("#include <thrust/device_vector.h>", ""),
        ("#include <thrust/pair.h>", "#include <thrust/pair.h>"),
        ("#include <vector>", "#include <vector>"),
        ('#include "mine.h"', '#include "mine.h"'),
    ],
)
def test_headers_of_libraries(line: str, made: str) -> None:
    assert with_device_headers(f"{line}\nint x;\n") == f"{made}\nint x;\n"
