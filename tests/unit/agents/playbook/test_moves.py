"""Every change on every shipped seed and on kernels written to provoke it."""

from __future__ import annotations

import pytest

from agents.checks import check
from agents.playbook import moves
from agents.playbook.moves import MOVES
from agents.source import SourceError, mask, plan_text, read, with_plan
from benchmarks.own_kernels import FOLDER
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.fit import check as check_plan
from sandbox.candidate.parse import parse
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.specimens import TILED_TRANSPOSE, seeds

ARCH = "gfx942"
HEAD = """/*+++
[[launch]]
kernel = "k"
grid = {grid}
block = {block}
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
"""

TILED = TILED_TRANSPOSE
FLAT = (
    HEAD.format(grid='["ceil_div(rows * cols, 256)"]', block='["256"]')
    + """
constexpr int SIZE = 256;
extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {
    const long at = (long)blockIdx.x * SIZE + threadIdx.x;
    if (at < (long)rows * cols) y[at] = expf(x[at]) + 'a';
}
"""
)

LITERAL = (
    HEAD.format(grid='["ceil_div(rows, 128)"]', block='["128"]')
    + """
extern "C" __global__ __launch_bounds__(128) void k(const float* x, float* y, int rows, int cols) {
    const int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int j = 0; j < cols; ++j) { sum += x[(long)row * cols + j]; }
    for (int j = 0; j < cols; ++j) y[(long)j * rows + row] = sum;
}
"""
)
OWN = {"tiled": TILED, "flat": FLAT, "literal": LITERAL}
KERNELS = [(f"{name}-{path.stem}", name, path.read_text(encoding="utf-8")) for name, path in seeds()]
KERNELS += [(name, "transpose", text) for name, text in OWN.items()]
TAKEN = frozenset({"x", "y", "rows", "cols"})


def offered(source: str) -> tuple[str, ...]:
    return moves.offers(read(source), ARCH, TAKEN)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "source"), [k[1:] for k in KERNELS], ids=[k[0] for k in KERNELS])
def test_every_change_keeps_the_file_whole_and_is_not_offered_again(task: str, source: str) -> None:
    assert check(source, ARCH) == ()
    for handle in offered(source):
        changed = moves.apply(source, handle, ARCH, TAKEN)
        assert changed != source, handle
        candidate = parse(changed)
        check_plan(candidate, load_task(task))
        assert check(changed, ARCH) == (), handle
        assert read(changed).fingerprint != read(source).fingerprint, handle
        assert handle not in offered(changed), handle
        with pytest.raises(SourceError):
            moves.apply(changed, handle.replace("together:", "unroll:9"), ARCH, TAKEN)


def test_each_change_is_offered_somewhere() -> None:
    own = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*/seed.hip")]
    own += [text.replace("const float*", "const _Float16*") for text in own if '"gemm"' in text]
    seen = {handle.split(":")[0] for source in (*own, *(k[2] for k in KERNELS)) for handle in offered(source)}
    assert seen == {m.name for m in MOVES} | {"together"}


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_every_changed_kernel_compiles(name: str) -> None:
    compiler = Compiler(toolchain(), COMPILED, load_target("mi300x"))
    for handle in offered(OWN[name]):
        candidate = parse(moves.apply(OWN[name], handle, ARCH, TAKEN))
        result = compiler.compile(candidate, candidate.defaults())
        assert result.ok, (handle, result.findings)


def test_padding_widens_the_rows_and_nothing_else() -> None:
    assert moves.apply(TILED, "lds_padding:bank", ARCH, TAKEN) == TILED.replace("tile[32][32];", "tile[32][32 + 1];")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tile[threadIdx.x][i]", "(&tile[0][0])[threadIdx.x * 32 + i]"),
        ("tile[threadIdx.x][i]", "((float*)tile)[threadIdx.x * 32 + i]"),
        ("tile[32][32]", "tile[128][128]"),
        ("tile[32][32]", "tile[32][cols]"),
    ],
)
def test_padding_is_not_offered_where_it_could_break(old: str, new: str) -> None:
    assert "lds_padding:bank" not in offered(TILED.replace(old, new))


def test_a_named_block_size_becomes_a_tunable_with_its_old_value_first() -> None:
    changed = parse(moves.apply(FLAT, "block_size:256", ARCH, TAKEN))
    assert changed.plan.tunables == {"SIZE": (256, 64, 128, 512, 1024)}
    assert changed.plan.launches[0].block == ("SIZE",)
    assert changed.plan.launches[0].grid == ("ceil_div(rows * cols, SIZE)",)
    assert "constexpr int SIZE" not in changed.source


def test_a_literal_block_size_becomes_a_tunable_everywhere_at_once() -> None:
    changed = moves.apply(LITERAL, "block_size:128", ARCH, TAKEN)
    assert "128" not in changed.split("+++*/")[1]
    assert "__launch_bounds__(BLOCK)" in changed
    assert "blockIdx.x * BLOCK" in changed


@pytest.mark.parametrize("extra", ["threadIdx.x % 64 + 128", "__shfl_xor(row, 1)"])
def test_a_block_size_that_the_code_depends_on_stays(extra: str) -> None:
    source = LITERAL.replace("float sum = 0", f"float sum = {extra}")
    assert not any(h.startswith("block_size") for h in offered(source))


def test_a_block_size_with_lds_of_fixed_size_stays() -> None:
    source = LITERAL.replace("float sum = 0;", "__shared__ float part[2]; float sum = 0;")
    assert not any(h.startswith("block_size") for h in offered(source))


def test_a_tunable_never_takes_a_name_of_the_task() -> None:
    assert "block_size:256" in moves.offers(read(FLAT), ARCH, frozenset())
    assert "block_size:256" not in moves.offers(read(FLAT), ARCH, frozenset({"SIZE"}))


def test_the_chiplet_order_is_a_permutation_for_any_number_of_blocks() -> None:
    for n in range(1, 70):
        share = n // 8
        assert sorted((b % 8) * share + b // 8 if b < 8 * share else b for b in range(n)) == list(range(n))
    assert "(blockIdx.x % 8u) * xcd_share + blockIdx.x / 8u" in moves.apply(FLAT, "xcd_order:8", ARCH, TAKEN)


def test_chiplets_and_grid_limits_are_a_matter_of_the_target() -> None:
    hopper = moves.offers(read(TILED), "sm_90a", TAKEN) + moves.offers(read(FLAT), "sm_90a", TAKEN)
    assert not {h.split(":")[0] for h in hopper} & {"xcd_order", "swap_grid"}


def test_bounds_with_a_minimum_are_offered_on_both_vendors() -> None:
    assert {"launch_bounds:2", "launch_bounds:4"} <= set(moves.offers(read(LITERAL), "sm_90a", TAKEN))
    assert "__launch_bounds__(128, 2)" in moves.apply(LITERAL, "launch_bounds:2", "sm_90a", TAKEN)


def test_padding_keeps_to_what_static_arrays_may_take_on_each_vendor() -> None:
    large = TILED.replace("tile[32][32];", "tile[384][32];")  # 48 KiB, 49.5 KiB padded
    assert "lds_padding:bank" in moves.offers(read(large), "gfx942", TAKEN)
    assert "lds_padding:bank" not in moves.offers(read(large), "sm_90a", TAKEN)
    assert "lds_padding:bank" in moves.offers(read(TILED), "sm_90a", TAKEN)


def test_axes_are_exchanged_in_code_and_plan() -> None:
    changed = parse(moves.apply(TILED, "swap_threads:xy", ARCH, TAKEN))
    assert changed.plan.launches[0].block == ("8", "32")
    assert "int i = threadIdx.x; i < 32; i += blockDim.x" in changed.source


def test_axes_stay_where_lanes_talk_to_each_other() -> None:
    source = TILED.replace("__syncthreads();", "__syncthreads(); __shfl_xor(column, 1);")
    assert "swap_threads:xy" not in offered(source)


def test_loops_in_comments_strings_and_macros_are_left_alone() -> None:
    macro = "#define EACH for (int q = 0; q < 2; ++q) \\\n    for (;;)\n    const long at"
    source = FLAT.replace("const long at", macro)
    assert not any(h.startswith("unroll") for h in offered(source))


def test_only_innermost_loops_without_a_pragma_are_unrolled() -> None:
    body = "for (int a = 0; a < 9; ++a) {\n#pragma unroll 1\n for (int b = 0; b < 9; ++b) sum += b; }\n for (int j = 0"
    changed = moves.apply(LITERAL.replace("for (int j = 0", body, 1), "unroll:4", ARCH, TAKEN)
    assert changed.count("#pragma unroll 4") == 2


def test_restrict_is_not_promised_when_a_buffer_is_passed_twice() -> None:
    assert "restrict:all" in offered(FLAT)
    assert "restrict:all" not in offered(FLAT.replace('["x", "y",', '["y", "y",'))


def test_stores_of_a_buffer_that_is_read_back_keep_their_caches() -> None:
    assert "nontemporal:outputs" in offered(FLAT)
    assert "nontemporal:outputs" not in offered(FLAT.replace("= expf(x[at])", "= y[at] + expf(x[at])"))


def test_launch_bounds_follow_the_tunables() -> None:
    source = FLAT.replace('block = ["256"]', 'block = ["64 * W"]').replace("+++*/", "[tunables]\nW = [4, 2]\n+++*/")
    assert "__launch_bounds__((64 * W)) k(" in moves.apply(source, "launch_bounds:1", ARCH, TAKEN)


def test_a_plan_survives_being_written_again() -> None:
    for _, _, source in KERNELS:
        file = read(source)
        assert parse(with_plan(file, file.plan)).plan.tunables == parse(source).plan.tunables
        assert read(f"/*+++\n{plan_text(file.plan)}+++*/").plan == file.plan


def test_masking_keeps_offsets_and_lines() -> None:
    text = 'a /* b\nc */ "d//e" \'"\' // f\ng'
    assert len(mask(text)) == len(text)
    assert mask(text).split() == ["a", "g"]
    assert mask(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "source", ["", "void f() {}", "/*+++\nlaunch = 3\n+++*/", "/*+++\n[[launch]\n+++*/", "/*+++ x"]
)
def test_what_is_no_candidate_is_refused_in_words(source: str) -> None:
    with pytest.raises(SourceError):
        read(source)
    assert len(check(source, ARCH)) == 1


@pytest.mark.parametrize(
    ("old", "new", "word", "kind"),
    [
        ('args = ["x", "y", "rows", "cols"]', 'args = ["x", "y"]', "arguments", "arguments"),
        ('kernel = "k"', 'kernel = "kk"', "kk", "kernel"),
        ("__syncthreads();", "if (threadIdx.x < 8) { __syncthreads(); }", "barrier", "barrier"),
        ("__syncthreads();", "unsigned m = __ballot(1);", "64 bits", "ballot"),
        ("__syncthreads();", "{", "'{'", "brackets"),
        ("__syncthreads();", "hipMalloc(0, 1);", "host", "host_code"),
    ],
)
def test_the_mechanical_checks_find_classic_slips(old: str, new: str, word: str, kind: str) -> None:
    remarks = check(TILED.replace(old, new), ARCH)
    assert len(remarks) == 1
    assert word in remarks[0].text
    assert remarks[0].kind == kind


def test_a_hyperbolic_tangent_is_computed_by_the_hardware_s_exponential() -> None:
    source = FLAT.replace("expf(x[at])", "tanhf(0.5f * (x[at] + tanhf(x[at])))")
    text = moves.apply(source, "fast_math:native", ARCH, TAKEN)
    one = "(1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * ({}))))"
    assert one.format("0.5f * (x[at] + " + one.format("x[at]") + ")") in text
