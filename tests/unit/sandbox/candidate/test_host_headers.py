"""HIP's header comes first, as its compilers read it; the headers of host libraries go or become one of ours."""

from __future__ import annotations

import pytest

from sandbox.candidate.diagnostics import compiler_findings
from sandbox.candidate.host_headers import headers_not_here, with_device_headers
from sandbox.candidate.parse import normalise
from sandbox.process import Completed

PLAN = "/*+++\n[[launch]]\n+++*/"


def test_the_header_stands_behind_the_plan_and_no_line_moves() -> None:
    text = with_device_headers(f"{PLAN}\n#include <vector>\nint x;\n")
    assert text == f"{PLAN} #include <hip/hip_runtime.h>\n#include <vector>\nint x;\n"
    assert with_device_headers(text) == text


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
    ("line", "expected"),
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
        ("#include <immintrin.h>", ""),
        ('#include "catch2/catch.hpp"', ""),
        ('#include "mine.h"', '#include "mine.h"'),
    ],
)
def test_headers_of_libraries(line: str, expected: str) -> None:
    assert with_device_headers(f"{line}\nint x;\n") == f"{expected}\nint x;\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('#include "mine.h"  // words', '// "mine.h" is not here'),
        ("#include <half.hpp>", ""),
        ("#  include <maker/words.h>", "// <maker/words.h> is not here"),
        ("#include <stddef.h>", "#include <stddef.h>"),  # the compiler's own
        ("#include <vector>", "#include <vector>"),
        ("#include NAMED", "#include NAMED"),
    ],
)
def test_with_a_host_half_a_header_that_is_not_here_is_left_out_and_named(line: str, expected: str) -> None:
    plan = PLAN.replace("]]", ']]\nkernel = "k"')
    text = f"{plan}\n{line}\n__global__ void k() {{}}\nint main() {{ hipFree(0); }}\n"
    assert normalise(text) == f"{plan} #include <hip/hip_runtime.h>\n{expected}\n__global__ void k() {{}}\n"
    assert normalise(normalise(text)) == normalise(text)
    assert headers_not_here(normalise(text)) == tuple(w for w in ('"mine.h"', "<maker/words.h>") if w in expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("struct __nv_bfloat16;", "#include <cuda_bf16.h>"),
        ("  class __nv_bfloat162 ;  // of CUDA", "#include <cuda_bf16.h>"),
        ("struct __nv_fp8_e4m3;", "#include <cuda_fp8.h>"),
        ("struct __half;", "struct __half;"),  # a class on any GPU
        ("namespace own {\nstruct __nv_bfloat16;\n}", "namespace own {\nstruct __nv_bfloat16;\n}"),
    ],
)
def test_a_declaration_of_a_number_type_of_cuda_is_its_header(line: str, expected: str) -> None:
    text = f"{PLAN}\n{line}\n"
    assert normalise(text) == f"{PLAN} #include <hip/hip_runtime.h>\n{expected}\n"
    assert normalise(normalise(text)) == normalise(text)


def test_the_first_error_names_what_was_left_out() -> None:
    completed = Completed(1, "", "candidate.hip:3:1: error: unknown type name 'word'\n", False, 0.1)
    (finding,) = compiler_findings(completed, "// <maker/words.h> is not here\n\nword x;\n")
    assert finding.message == "unknown type name 'word'; left out, as it is not here: <maker/words.h>"
    assert finding.code == "B.2"
