from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from records.errors import UsageError
from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.amdgcn.listing import ListedKernel
from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.target import load_target
from tests.support.compiler_cache import toolchain

KERNELS = Path(__file__).parents[3] / "data" / "kernels"


HIP = "#include <hip/hip_runtime.h>\n"


K = 'extern "C" __global__ void k(float* x) {\n  '


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


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.hip")), ids=lambda p: p.stem)
def test_ordinary_kernels_compile_and_their_resources_are_plausible(compiler: Compiler, path: Path) -> None:
    candidate = parse(path.read_text())
    result = compiler.compile(candidate, candidate.defaults())
    assert result.ok, result.diagnostics
    assert result.diagnostics == ""
    assert {launch.kernel for launch in candidate.plan.launches} == {k.name for k in result.kernels}
    for launch in candidate.plan.launches:
        kernel = next(k for k in result.kernels if k.name == launch.kernel)
        assert len(kernel.args) == len(launch.args)
        assert 0 < kernel.vgpr <= 128
        assert kernel.scratch_bytes == 0
        assert kernel.instructions["vmem"] > 0
    image = compiler.code_object_path(result.code_object).read_bytes()
    assert image[:4] == b"\x7fELF"
    assert hashlib.sha256(image).hexdigest() == result.code_object


def test_what_was_compiled_to_be_ranked_is_assembled_when_its_code_object_is_asked_for(tmp_path: Path) -> None:
    candidate = parse((KERNELS / "bf16_rms.hip").read_text())
    ranks, full = (Compiler(toolchain(), tmp_path / name, load_target("mi300x")) for name in ("ranks", "whole"))
    ranked = ranks.compile(candidate, candidate.defaults(), is_assembled=False)
    assert ranked.ok and ranked.listing and not ranked.code_object
    for compilation in (ranks.compile(candidate, candidate.defaults()), ranks.compile(candidate, candidate.defaults())):
        assert compilation.code_object == full.compile(candidate, candidate.defaults()).code_object
        assert compilation.listing == ranked.listing and compilation.kernels == ranked.kernels
        assert ranks.code_object_path(compilation.code_object).is_file()
    assert ranks.compile(candidate, candidate.defaults(), is_assembled=False).code_object == compilation.code_object
    wrong = parse(candidate.source + "int broken(;\n")
    assert not ranks.compile(wrong, wrong.defaults(), is_assembled=False).ok


def test_what_each_kernel_uses_shows_in_its_instruction_mix(compiler: Compiler) -> None:
    def mix(name: str) -> ListedKernel:
        candidate = parse((KERNELS / f"{name}.hip").read_text())
        return compiler.compile(candidate, candidate.defaults()).kernels[-1]

    tile, transpose, rms = mix("fp8_mfma_tile"), mix("tiled_transpose"), mix("bf16_rms")
    assert tile.instructions["mfma"] >= 1
    assert "mfma" not in transpose.instructions
    assert transpose.lds_bytes == 32 * 33 * 4
    assert transpose.instructions["barrier"] == 1
    assert rms.lds_bytes == 16
    source = (KERNELS / "fp8_mfma_tile.hip").read_text().split("\n")
    line = next(line for line, counts in tile.lines.items() if "mfma" in counts)
    assert "__builtin_amdgcn_mfma" in source[int(line) - 1]
    assert tile.max_block == 64


def test_header_code_is_charged_to_the_candidates_line(compiler: Compiler) -> None:
    kernel = only(build(compiler, f"{HIP}{K}x[threadIdx.x] =\n  __shfl_xor(x[threadIdx.x], 1); }}\n"))
    assert set(kernel.lines) <= {"2", "3", "4"}
    assert kernel.lines["4"]["lds"] == 1


def test_tunables_are_macros_and_change_the_code(compiler: Compiler) -> None:
    body = "__shared__ float t[NN]; t[threadIdx.x] = x[0]; x[1] = t[NN - 1];"
    text = HIP + K + body + " }\n"
    narrow, wide = build(compiler, text, NN=64), build(compiler, text, NN=128)
    assert (only(narrow).lds_bytes, only(wide).lds_bytes) == (256, 512)
    assert narrow.code_object != wide.code_object


def test_the_code_object_hash_ignores_comments_names_of_lines_and_unused_tunables(compiler: Compiler) -> None:
    plain, moved = HIP + K + "x[0] = 1; }\n", "// hello\n\n" + HIP + "/* more */" + K + "x[0] = 1;\n }\n"
    assert (
        build(compiler, plain).code_object
        == build(compiler, moved).code_object
        == build(compiler, plain, NN=3).code_object
    )
    assert build(compiler, plain.replace("= 1", "= 2")).code_object != build(compiler, plain).code_object


def test_a_repeat_is_answered_from_the_store(compiler: Compiler) -> None:
    text = HIP + K + "x[0] = 41; }\n"
    first = build(compiler, text)
    reopened = Compiler(compiler.toolchain, compiler.cache, compiler.target)
    stored = reopened._path(reopened._key(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), {}))
    assert stored.is_file()
    before = stored.stat().st_mtime_ns
    second = build(reopened, text)
    assert (second.code_object, second.kernels, second.listing) == (first.code_object, first.kernels, first.listing)
    assert stored.stat().st_mtime_ns == before
    stored.write_text('{"ok": tr')  # a torn file is compiled again, not believed
    assert build(reopened, text).code_object == first.code_object
    assert stored.stat().st_mtime_ns != before


def test_many_at_once_do_not_mix(compiler: Compiler) -> None:
    texts = [HIP + f'extern "C" __global__ void k{i}(float* x) {{ x[0] = {i}; }}\n' for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        names = [only(result).name for result in pool.map(lambda text: build(compiler, text), texts)]
    assert names == [f"k{i}" for i in range(8)]


def test_mangled_names_are_known_by_their_source_name(compiler: Compiler) -> None:
    text = HIP + (
        "namespace inner { __global__ void two(int* x) { *x = 2; } }\n__global__ void one(int* x) { *x = "
        "1; }\n"
        "template <int N> __global__ void three(int* x) { *x = N; }\ntemplate __global__ void "
        "three<3>(int*);\n"
    )
    names = {k.symbol: k.name for k in build(compiler, text).kernels}
    assert names == {"_ZN5inner3twoEPi": "two", "_Z3onePi": "one", "_Z5threeILi3EEvPi": "three"}


def test_instantiations_are_named_as_the_plan_names_them_and_leave_the_listing_as_it_is(compiler: Compiler) -> None:
    code = (
        "namespace ops {\ntemplate <typename T, int N> static __global__ void twice(T* x) { x[0] *= T(N); }\n"
        "__global__ void k(float* x) {}\n__global__ void k(int* x) {}\n}\n"
    )

    def compile_named(name: str) -> Compilation:
        text = f"#include <hip/hip_runtime.h>\n{code}"
        plan = Plan((Launch(name, ("1",), ("1",), "0", ("x",), 1),))
        return compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, plan), {"SIZE": 7})

    right = compile_named("ops::twice<float, SIZE>")
    assert "ops::twice<float, 7>" in {kernel.name for kernel in right.kernels}
    assert "ks_kernel" not in right.listing and "ks_names" not in right.listing
    (overloaded,) = compile_named("ops::k").findings
    assert overloaded.line == 1 and "a name that several functions have" in overloaded.message
    missing = compile_named("ops::gone<float>").findings[0]
    assert missing.message.startswith("the plan launches 'ops::gone<float>': no member named 'gone'")


def test_arguments_and_launch_bounds_come_from_the_code_object(compiler: Compiler) -> None:
    kernel = only(
        build(
            compiler,
            HIP + 'struct S { int a, b, c; };\nextern "C" __global__ void '
            "__launch_bounds__(192)\n"
            "k(float* x, int n, const double* d, S s, long m, char c) { x[n] = d[m] + s.b + c + "
            "blockDim.x; }\n",
        )
    )
    assert [(a.buffer, a.size) for a in kernel.args] == [
        (True, 8),
        (False, 4),
        (True, 8),
        (False, 12),
        (False, 8),
        (False, 1),
    ]
    assert kernel.max_block == 192


def test_accumulators_go_to_agprs_and_registers_set_the_occupancy(compiler: Compiler) -> None:
    text = (
        HIP
        + """typedef float v16 __attribute__((ext_vector_type(16)));
extern "C" __global__ void __launch_bounds__(256) k(const long* a, const long* b, v16* c, int n) {
  v16 sum[TILES][TILES] = {};
  for (int i = 0; i < n; i++)
    for (int p = 0; p < TILES; p++) for (int q = 0; q < TILES; q++)
      sum[p][q] = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a[i * TILES + p], b[i * TILES + q], sum[p][q], 0, 0, 0);
  for (int p = 0; p < TILES; p++)
    for (int q = 0; q < TILES; q++) c[(threadIdx.x * TILES + p) * TILES + q] = sum[p][q];
}
"""
    )
    small, large, spilled = (build(compiler, text, TILES=tiles) for tiles in (1, 4, 6))
    assert (only(small).agpr, small.resources[0].waves_per_simd) == (0, 8)
    assert only(large).agpr > 0
    assert (large.resources[0].vgpr + large.resources[0].agpr, large.resources[0].waves_per_simd) == (
        only(large).vgpr,
        1,
    )
    assert only(large).scratch_bytes == 0
    assert only(spilled).scratch_bytes > 0
    assert only(spilled).spilled_vgpr > 0


def test_a_target_of_another_vendor_is_refused(tmp_path: Path) -> None:
    target = load_target("mi300x")
    other = type(target)(**{**target.__dict__, "name": "h200", "vendor": "nvidia"})
    with pytest.raises(UsageError, match="h200 needs a machine with its own compiler"):
        Compiler(toolchain(), tmp_path, other)
