"""The inner loop of a kernel: which loop is shown, and the code of shipped kernels by the real compiler."""

from __future__ import annotations

import pytest

from sandbox.amdgcn.annotation import Instruction
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.inner_loop import Disassembler, inner_loop
from sandbox.amdgcn.listing import instruction_class
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain


def rows(text: str) -> list[Instruction]:
    """One instruction a line, as many bars before it as there are loops around it."""
    instructions = []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip().lstrip("|").strip()
        mnemonic = bare.split(" ")[0]
        instructions.append(Instruction(number, bare, instruction_class(mnemonic), "", line.count("|")))
    return instructions


def test_the_innermost_loop_with_most_matrix_work_is_shown() -> None:
    loop = inner_loop(
        "k",
        rows(
            """v_mov_b32 v0, 1
            | s_load_dword s0, s[0:1]
            || global_load_dword v0
            || global_load_dword v1
            | v_add_f32 v0, v0
            || v_mfma_f32_16x16x16_f16 a[0:3]
            | s_cbranch_scc1 .LBB0_1
            s_endpgm"""
        ),
    )
    assert (loop.depth, loop.instructions, loop.total) == (2, 1, 8)
    assert [line.group for line in loop.lines] == ["mfma"]


def test_a_loop_around_the_matrix_work_is_shown_without_the_loops_inside_it() -> None:
    loop = inner_loop(
        "k",
        rows(
            """| s_waitcnt vmcnt(0)
            || global_load_dword v0
            || global_load_dword v1
            | v_mfma_f32_16x16x16_f16 a[0:3]
            s_endpgm"""
        ),
    )
    assert [(line.text, line.count) for line in loop.lines] == [
        ("s_waitcnt vmcnt(0)", 1),
        ("instructions of an inner loop", 2),
        ("v_mfma_f32_16x16x16_f16 a[0:3]", 1),
    ]


def test_like_instructions_in_a_row_are_one_line_and_arithmetic_is_counted() -> None:
    loop = inner_loop(
        "k",
        rows(
            """| ds_read_b128 v[0:3], v9
            | ds_read_b128 v[4:7], v9 offset:16
            | v_add_f32 v0, v0
            | s_add_u32 s0, s0
            | v_exp_f32 v1, v1
            | s_waitcnt lgkmcnt(0)
            | s_barrier"""
        ),
    )
    assert [(line.text, line.count) for line in loop.lines] == [
        ("ds_read_b128", 2),
        ("valu and salu", 3),
        ("s_waitcnt lgkmcnt(0)", 1),
        ("s_barrier", 1),
    ]


def test_a_kernel_whose_loops_were_unrolled_is_shown_whole() -> None:
    unrolled = "\n".join(["global_load_dword v0"] * 9 + ["| ds_read_b32 v1", "| s_cbranch_scc1 .LBB0_1", "s_endpgm"])
    loop = inner_loop("k", rows(unrolled))
    assert (loop.depth, loop.instructions, loop.total) == (0, 12, 12)
    assert [(line.text, line.count) for line in loop.lines][:2] == [("global_load_dword", 9), ("ds_read_b32 v1", 1)]


def test_a_kernel_without_a_loop_is_shown_whole() -> None:
    loop = inner_loop("k", rows("global_load_dword v0\ns_endpgm"))
    assert (loop.depth, loop.instructions, loop.total) == (0, 2, 2)


@pytest.mark.slow
def test_the_loop_of_a_shipped_kernel_comes_from_its_code_object_and_a_broken_file_has_none() -> None:
    task = load_task("fp8_block_gemm")
    source = next(path for path in task.seeds if "mfma" in path.name).read_text(encoding="utf-8")
    disassembler = Disassembler(Compiler(toolchain(), COMPILED, load_target("mi300x")))
    [loop] = [
        candidate
        for candidate in disassembler.loops(prepare(source, task))
        if any(x.group == "mfma" for x in candidate.lines)
    ]
    assert loop.depth >= 1
    assert 0 < loop.instructions < loop.total
    groups = {line.group for line in loop.lines}
    assert {"mfma", "waitcnt"} <= groups
    assert all(0 <= line.line <= source.count("\n") + 1 for line in loop.lines)
    broken = prepare(source.replace("__global__", "__global__ unknown_word"), task)
    assert disassembler.loops(broken) == ()
