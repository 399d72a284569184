"""Faults, bombs and ways out: each ends in a finding, and no file of the machine is read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.amdgcn.listing import ListedKernel
from sandbox.candidate.plan import Candidate, Plan
from sandbox.process import ProcessLimits
from sandbox.target import load_target
from tests.support.compiler_cache import toolchain

HIP = "#include <hip/hip_runtime.h>\n"


K = 'extern "C" __global__ void k(float* x) {\n  '


CANARY = "ks-canary-7Fq2"


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    folder = tmp_path_factory.mktemp("compiler")
    yield Compiler(toolchain(), folder / "cache", load_target("mi300x"))
    assert list((folder / "cache" / "work").iterdir()) == []


def build(compiler: Compiler, text: str, **tunables: int) -> Compilation:
    return compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), tunables)


def only(compilation: Compilation) -> ListedKernel:
    assert compilation.ok, compilation.findings
    (kernel,) = compilation.kernels
    return kernel


@pytest.mark.parametrize(
    ("text", "kind", "line", "message"),
    [
        (HIP + K + "x[0] = scale; }\n", "compile_error", 3, "use of undeclared identifier 'scale'"),
        (HIP + "#include <hip/nope.h>\n", "compile_error", 2, "'hip/nope.h' file not found"),
        (
            HIP + "int other(int);\n" + K + "x[0] = other(1); }\n",
            "compile_error",
            4,
            "no matching function for call to 'other'",
        ),
        (
            HIP + "__device__ int other(int);\n" + K + "x[0] = other(1); }\n",
            "compile_error",
            4,
            "undefined symbol: other(int)",
        ),
        (
            HIP + K + "__shared__ float t[40000]; t[int(x[1])] = x[0]; __syncthreads(); x[0] = t[int(x[2])]; }\n",
            "over_limit",
            2,
            "k declares 160000 bytes of static LDS (local memory exceeds limit 65536)",
        ),
        (
            HIP + K + 'asm volatile("v_bogus v0, v1"); }\n',
            "compile_error",
            3,
            "inline asm is refused by the assembler: invalid",
        ),
        (
            HIP + K + "x[0] = __shfl_xor(*(float4*)x, 1).x; }\n",
            "compile_error",
            3,
            "shuffles move values of 1, 2, 4 or 8 bytes",
        ),
        (HIP + K + "x[0] = __ballot_sync(0xffffffffu, 1); }\n", "compile_error", 3, "a wave has 64 lanes"),
        (HIP + "__device__ int f() { return 1; }\n", "compile_error", None, "the file defines no __global__ function"),
        (
            HIP
            + "__device__ int z;\n__attribute__((constructor)) __device__ void f() { z = 1; }\n"
            + K
            + "x[0] = z; }\n",
            "compile_error",
            3,
            "global constructors",
        ),
    ],
)
def test_every_fault_is_a_finding_on_its_line(
    compiler: Compiler, text: str, kind: str, line: int | None, message: str
) -> None:
    result = build(compiler, text)
    assert not result.ok
    assert (result.findings[0].kind, result.findings[0].line) == (kind, line)
    assert message in result.findings[0].message


def test_an_error_says_why_an_overload_does_not_fit(compiler: Compiler) -> None:
    function = "__device__ float f(float a, float* b) { return a + *b; }\n"
    result = build(compiler, HIP + function + K + "x[0] = f(x, x); }\n")
    assert result.findings[0].line == 4
    assert "no matching function for call to 'f'" in result.findings[0].message
    assert "line 2: candidate function not viable: no known conversion from 'float *'" in result.findings[0].message


MFMA = (
    HIP
    + """typedef float v16 __attribute__((ext_vector_type(16)));
typedef short s2 __attribute__((ext_vector_type(2)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void k(v16* x, s2* a, int n) {
  x[0] = __builtin_amdgcn_mfma_f32_"""
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("32x32x16_fp8_fp8(1.0f, x, x[0], 0, 0, 0)", "cannot initialize a parameter of type 'long'"),
        ("32x32x16_fp8_fp8(1, 2, x[0], n, 0, 0)", "must be a constant integer"),
        (
            "32x32x4bf16(a[0], a[1], x[0], 0, 0, 0)",
            "Cannot select: this GPU has no instruction for "
            "__builtin_amdgcn_mfma_f32_32x32x4bf16; use a builtin that exists on gfx942",
        ),
        ("32x32x16_f16(h8{}, h8{}, x[0], 0, 0, 0)", "needs target feature gfx950-insts"),
    ],
)
def test_misused_matrix_builtins_are_explained(compiler: Compiler, call: str, message: str) -> None:
    result = build(compiler, MFMA + call + ";\n}\n")
    assert result.findings[0].line == 6
    assert message in result.findings[0].message


def test_the_compilers_own_text_is_kept_with_caret_and_without_this_machines_paths(compiler: Compiler) -> None:
    result = build(compiler, HIP + K + 'x[0] = scale + "\x1b[31m"[0]; }\n')
    assert "candidate.hip:3:10: error: use of undeclared identifier" in result.diagnostics
    assert "         ^" in result.diagnostics
    assert "\x1b" not in result.diagnostics
    assert str(compiler.cache) not in str(result)


@pytest.mark.parametrize(
    "form",
    [
        '#include "{}"',
        "#include <{}>",
        '%:include "{}"',
        '??=include "{}"',
        '#include_next "{}"',
        '#import "{}"',
        '#define F "{}"\n#include F',
        '#pragma GCC dependency "{}"',
        'const char d[] = {{\n#embed "{}"\n}};',
        '#include "../../../../../../../../../../..{}"',
        '_Pragma("clang dependency \\"{}\\"")\n#include "{}"',
        'extern "C" __attribute__((global)) void k(int* x) {{ asm volatile(".incbin \\"{}\\""); }}',
        'extern "C" __attribute__((global)) void k(int* x) {{ asm volatile(".INCLUDE \\"{}\\""); }}',
        'extern "C" __attribute__((global)) void k(int* x) {{ asm volatile(".macro m a\\n.\\\\a \\"{}\\"\\n.endm\\nm '
        'incbin"); }}',
        '__asm__(".incbin \\"{}\\"");',
    ],
)
def test_no_file_of_the_machine_can_be_read(compiler: Compiler, tmp_path: Path, form: str) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text(f"#error {CANARY}\n")
    result = build(compiler, form.format(secret, secret) + "\n")
    assert not result.ok
    assert CANARY not in str(result)


def test_whether_a_file_exists_cannot_be_asked(compiler: Compiler, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("")
    condition = " || ".join(
        f"__has_{directive}({quoted})"
        for directive in ("include", "embed")
        for quoted in (f'"{secret}"', f"<{secret}>")
    )
    only(
        build(
            compiler,
            f'#if {condition} || __has_include("files.json")\n#error it exists\n#endif\n{HIP}{K}x[0] = 1; }}\n',
        )
    )


def test_pragmas_cannot_bring_a_library_into_the_link(compiler: Compiler, tmp_path: Path) -> None:
    library = tmp_path / "library.o"
    library.write_text("not an object")
    only(build(compiler, f'#pragma comment(lib, "{library}")\n{HIP}{K}x[0] = 1; }}\n'))


def test_inline_assembly_cannot_lie_about_the_kernel(compiler: Compiler) -> None:
    fake = ".amdgpu_metadata\\n---\\namdhsa.kernels: []\\namdhsa.version:\\n  - 1\\n  - 2\\n...\\n.end_amdgpu_metadata"
    assert not build(compiler, HIP + K + f'asm volatile("\\n;#ASMEND\\n{fake}\\n;#ASMSTART"); }}\n').ok


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("self include", '#include "candidate.hip"\n', "nested too deeply"),
        (
            "templates",
            "template<int N> struct F { static constexpr int v = F<N + 1>::v + F<N + 2>::v; };\nint x = F<0>::v;\n",
            "exceeded maximum depth",
        ),
        (
            "huge array",
            HIP + "__device__ int big[3u << 28] = {1};\n" + K + "x[0] = big[int(x[1])]; }\n",
            "would write more than 256 MiB",
        ),
        ("brackets", HIP + K + "x[0] = " + "(" * 100000 + "1" + ")" * 100000 + "; }\n", "bracket nesting level"),
        ("errors", "".join(f"{'e' * 500}{i} x;\n" for i in range(1000)), "unknown type name"),
    ],
)
def test_bombs_end_in_a_finding(compiler: Compiler, name: str, text: str, message: str) -> None:
    result = build(compiler, text)
    assert not result.ok
    assert message in result.findings[0].message
    assert len(result.findings) <= 20
    assert len(result.diagnostics) <= 66000


def test_a_compiler_that_does_not_end_is_a_finding_and_is_not_stored(compiler: Compiler) -> None:
    hasty = Compiler(compiler.toolchain, compiler.cache, compiler.target, limits=ProcessLimits(cpu_s=1))
    body = "".join(f"#define A{i} {f'A{i + 1} ' * 10}\n" for i in range(9)) + "#define A9 x[0] += 1;\n"
    text = HIP + body + K + "A0 }\n"
    result = build(hasty, text)
    assert "may take 35 s of processor time" in result.findings[0].message
    identity = Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(()))
    assert not hasty._path(hasty._key(identity, {})).exists()
