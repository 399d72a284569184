"""NVRTC's calls against a library that tells what it was given; nvcc where it is installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from records.errors import ToolchainError
from sandbox.gpu.compile.dialect import dialect_of, headers, spell, translate
from sandbox.gpu.compile.images import read_image
from sandbox.gpu.compile.nvrtc import OPTIONS, Nvcc, Nvrtc, find_compiler
from tests.support.c_library import shared_library

FAKE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct program { char text[65536]; size_t size; int failed; };
int nvrtcVersion(int* major, int* minor) { return *major = 12, *minor = 9, 0; }
int nvrtcCreateProgram(struct program** p, const char* source, const char* name, int n, const char** texts,
                       const char** names) {
    if (!strcmp(name, "refused")) return 2;
    *p = calloc(1, sizeof **p);
    (*p)->failed = strstr(source, "error") != 0;
    (*p)->size = sprintf((*p)->text, "source %s\nname %s\n", source, name);
    for (int i = 0; i < n; i++) (*p)->size += sprintf((*p)->text + (*p)->size, "header %s=%s\n", names[i], texts[i]);
    return 0;
}
int nvrtcCompileProgram(struct program* p, int n, const char** options) {
    for (int i = 0; i < n; i++) {
        if (strstr(p->text, "source old") && !strcmp(options[i], "--minimal"))  // as a library before 12.4 does
            return p->size = sprintf(p->text, "nvrtc: error: unrecognized option --minimal found\n"), 5;
        p->failed |= strstr(p->text, "source left_out") && !strcmp(options[i], "--minimal");
        p->size += sprintf(p->text + p->size, "option %s\n", options[i]);
    }
    return p->failed ? 6 : 0;
}
int nvrtcGetProgramLogSize(struct program* p, size_t* size) { return *size = p->size + 1, 0; }
int nvrtcGetProgramLog(struct program* p, char* log) { return memcpy(log, p->text, p->size + 1), 0; }
int nvrtcGetCUBINSize(struct program* p, size_t* size) { return *size = 5, 0; }
int nvrtcGetCUBIN(struct program* p, char* to) { return memcpy(to, "cubin", 5), 0; }
int nvrtcDestroyProgram(struct program** p) { return free(*p), 0; }
"""


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Nvrtc:
    library = tmp_path_factory.mktemp("nvrtc") / "libnvrtc.so"
    shutil.copy(shared_library(FAKE), library)
    return Nvrtc(str(library))


def test_the_library_gets_source_headers_and_options(fake: Nvrtc) -> None:
    compilation = fake.compile("int x;", "candidate.hip", "sm_90a", ["-DN=3"], {"a/b.h": "int y;"})
    assert compilation.image == b"cubin" and compilation.cubin == b"cubin"
    assert compilation.log.split("\n") == [
        "source int x;",
        "name candidate.hip",
        "header a/b.h=int y;",
        *(f"option {o}" for o in OPTIONS),
        "option --gpu-architecture=sm_90a",
        "option -DN=3",
        "option --minimal",
    ]
    assert fake.version() == "12.9" and fake.folder is not None and fake.folder.name.startswith("nvrtc")


@pytest.mark.parametrize(
    "source",
    [
        "cudaTextureObject_t t;",
        "x = tex2D<float>(t, 0, 0);",
        "surf1Dwrite(1, s, 0);",
        "#include <cooperative_groups.h>",
    ],
)
def test_nothing_is_left_out_that_the_source_may_need(fake: Nvrtc, source: str) -> None:
    assert "--minimal" not in fake.compile(source, "candidate.hip", "sm_90a").log
    assert (
        "--minimal"
        in fake.compile(
            source.replace("cuda", "hip").replace("tex", "vex").replace("surf", "serf").replace("cooperative", "other"),
            "candidate.hip",
            "sm_90a",
        ).log
    )


def test_an_older_library_gets_no_option_that_it_does_not_know(fake: Nvrtc) -> None:
    older = Nvrtc(str((fake.folder or Path()) / "libnvrtc.so"))
    for source in ("old", "int x;"):
        compilation = older.compile(source, "candidate.hip", "sm_90a")
        assert compilation.image == b"cubin" and "--minimal" not in compilation.log


def test_what_needs_something_that_was_left_out_compiles_all_the_same(fake: Nvrtc) -> None:
    compilation = fake.compile("left_out", "candidate.hip", "sm_90a")
    assert compilation.image == b"cubin" and "--minimal" not in compilation.log
    assert "--minimal" in fake.compile("int x;", "candidate.hip", "sm_90a").log, "the next one is tried with it again"


def test_an_error_gives_no_image_but_the_log(fake: Nvrtc) -> None:
    compilation = fake.compile("error", "candidate.hip", "sm_90a")
    assert compilation.image is None and compilation.log.startswith("source error")


def test_a_library_that_refuses_the_source_is_at_fault(fake: Nvrtc) -> None:
    with pytest.raises(ToolchainError, match="status 2"):
        fake.compile("int x;", "refused", "sm_90a")


def test_missing_compilers_say_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="install the nvidia-cuda-nvrtc wheel"):
        Nvrtc(str(tmp_path / "libnvrtc.so"))
    with pytest.raises(ToolchainError, match="reinstall the toolkit"):
        Nvcc(str(tmp_path / "nvcc")).version()


needs_nvcc = pytest.mark.skipif(
    not (shutil.which("nvcc") or Path("/usr/local/cuda/bin/nvcc").is_file()), reason="nvcc is not installed here"
)


@pytest.mark.slow
@needs_nvcc
def test_nvcc_stands_in_for_the_library() -> None:
    assert find_compiler().version().count(".") >= 1
    source = spell(
        "nvcc",
        "#include <hip/hip_runtime.h>\ntypedef float four __attribute__((ext_vector_type(4)));\n"
        "__global__ void k(four* x) { x[0] = x[1] * x[2]; }\n",
    )
    compilation = Nvcc().compile(source, "candidate.hip", "sm_90a", dialect_of("nvcc").options, headers())
    assert compilation.image is not None, compilation.log
    assert [k.name for k in read_image(compilation.image).kernels] == ["k"]


def test_vector_types_keep_their_lines() -> None:
    text = "typedef float\n  four\n __attribute__((ext_vector_type(2 * 2)));\nint x;\n"
    assert translate(text) == "typedef ks_vector<float, (2 * 2)> four;\n\n\nint x;\n"


def test_a_macro_in_a_pragma_is_expanded_where_the_header_is_included() -> None:
    loop = "#pragma unroll STEPS // four\n#pragma unroll(2 * \\\nSTEPS)\n#pragma unroll 4\n#pragma unroll\n"
    source_text = "KS_UNROLL(STEPS) // four\nKS_UNROLL(( 2 * STEPS ))\n\n#pragma unroll 4\n#pragma unroll\n"
    include = "#include <hip/hip_runtime.h>\n"
    assert spell("nvcc", include + loop) == include + source_text == spell("nvrtc", include + loop)
    assert spell("nvcc", loop) == loop and spell("nvcc", loop, has_header=True) == source_text
    assert spell("hipcc", include + loop) == include + loop


@pytest.mark.slow
@needs_nvcc
def test_nvcc_takes_a_macro_and_a_constant_in_a_pragma() -> None:
    source = spell(
        "nvcc",
        "#include <hip/hip_runtime.h>\ntemplate <int N> __device__ float sum(const float* x, int n) {\n"
        "    float s = 0;\n#pragma unroll N\n    for (int i = 0; i < n; ++i) s += x[i];\n"
        "#pragma unroll (2 * STEPS)\n    for (int i = 0; i < n; ++i) s -= x[i * i];\n    return s;\n}\n"
        "__global__ void k(float* x, int n) { x[0] = sum<2>(x, n); }\n",
    )
    compilation = Nvcc().compile(source, "candidate.hip", "sm_90a", ("-DSTEPS=4",), headers())
    assert compilation.image is not None, compilation.log


def test_hip_rtc_has_hips_headers_built_in() -> None:
    text = '#include <hip/hip_runtime.h> // kept\n  # include "hip/hip_fp16.h"\n#include <limits>\n'
    assert spell("hiprtc", text) == " // kept\n  \n#include <limits>\n"
    assert spell("hipcc", text) == text
    assert all(dialect_of("hiprtc").headers.values()) and "hip/hip_fp16.h" in dialect_of("hiprtc").includable
