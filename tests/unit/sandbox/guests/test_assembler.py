from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.amdgcn.annotation import annotate
from sandbox.amdgcn.compiler import Compilation
from sandbox.candidate.parse import parse
from sandbox.guests.assembler import Assembler
from sandbox.guests.assembly_text import SOURCE, cleaned
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

SCALE = """/*+++
[[launch]]
kernel = "scale"
grid = ["ceil_div(rows * cols, 256)"]
block = [256]
args = ["x", "y", "rows * cols"]
+++*/
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.set factor, 0x40000000
.text
.globl scale
.p2align 8
.type scale,@function
scale:
  s_load_dwordx4 s[4:7], s[0:1], 0x0   ; x and y
  s_load_dword s3, s[0:1], 0x10
  v_lshl_add_u32 v0, s2, 8, v0
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_i32 vcc, s3, v0 // one element a lane
  s_and_saveexec_b64 s[8:9], vcc
  s_cbranch_execz done
  v_lshlrev_b32 v0, 2, v0
  global_load_dword v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
  v_mul_f32 v1, factor, v1
  global_store_dword v0, v1, s[6:7]
done:
  s_endpgm
.Lend:
.size scale, .Lend-scale

.rodata
.p2align 6
.amdhsa_kernel scale
  .amdhsa_kernarg_size 20
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 10
  .amdhsa_accum_offset 4
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: scale
    .symbol: scale.kd
    .kernarg_segment_size: 20
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 1
    .vgpr_count: 1
    .max_flat_workgroup_size: 256
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 4, .value_kind: by_value }
.end_amdgpu_metadata
"""


@pytest.fixture(scope="module")
def assembler() -> Assembler:
    return Assembler(toolchain(), COMPILED, load_target("mi300x"))


def compile_text(assembler: Assembler, text: str) -> Compilation:
    return assembler.compile(parse(text))


def test_the_listing_has_the_file_s_lines_and_a_compiler_s_form(assembler: Assembler) -> None:
    result = compile_text(assembler, SCALE)
    assert result.ok, result.findings
    rows = annotate(result.listing, SOURCE)["scale"]
    texts = [row.text for row in rows]
    assert (texts[4], texts[10]) == ("v_cmp_gt_i32_e32 vcc, s3, v0", "v_mul_f32_e32 v1, 2.0, v1")
    lines = SCALE.split("\n")
    assert all(row.text.split("_e32")[0].split()[0] in lines[row.line - 1] for row in rows)
    assert texts[6] == "s_cbranch_execz .LBB0_0" and rows[-1].label == ".LBB0_0"
    assert "x and y" not in result.listing and ".debug" not in result.listing


def test_registers_are_those_of_the_descriptor_whatever_the_metadata_says(assembler: Assembler) -> None:
    (kernel,) = compile_text(assembler, SCALE).kernels
    assert (kernel.vgpr, kernel.agpr, kernel.sgpr, kernel.max_block) == (2, 0, 16, 256)
    assert [(a.buffer, a.offset, a.size) for a in kernel.args] == [(True, 0, 8), (True, 8, 8), (False, 16, 4)]
    many = SCALE.replace("next_free_vgpr 2", "next_free_vgpr 300")
    assert compile_text(assembler, many).kernels[0].vgpr == 300
    assert compile_text(assembler, many).resources[0].waves_per_simd == 1


def test_a_listing_may_be_edited_and_judged_again(assembler: Assembler) -> None:
    listing = compile_text(assembler, SCALE).listing
    plan, _, _ = SCALE.partition(".amdgcn_target")
    edited = compile_text(assembler, plan + "\n".join(listing.split("\n")[1:]))
    assert edited.ok, edited.findings
    stripped = [
        [row.text for row in annotate(x.listing, SOURCE)["scale"]] for x in (edited, compile_text(assembler, SCALE))
    ]
    assert stripped[0] == stripped[1]


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("  s_waitcnt vmcnt(0)", "  s_wait vmcnt(0)", 24, "refuses this: invalid instruction"),
        ("  s_waitcnt vmcnt(0)", '  .incbin "/etc/passwd"', 24, "directive .incbin may not be used"),
        ("  s_waitcnt vmcnt(0)", '  .include "other.s"', 24, "directive .include may not be used"),
        (".set factor", ".macro m\n.endm\n.set factor", 9, "directive .macro may not be used"),
        ("  s_waitcnt vmcnt(0)", "  s_memtime s[8:9]", 24, "s_memtime: a kernel may not read clocks"),
        ("--gfx942", "--gfx90a", 8, "refuses this: "),
        ("v_lshlrev_b32 v0, 2, v0", "v_lshlrev_b32 v9, 2, v0", 22, "uses v9, but scale has 4 such registers"),
        ("v_lshlrev_b32 v0, 2, v0", "v_accvgpr_write_b32 a7, 0", 22, "uses a7, but scale has 4 such registers"),
        ("s_load_dword s3", "s_load_dword s40", 16, "uses s40, but scale has 16 such registers"),
        ("kernarg_size 20", "kernarg_size 24", None, "they must be the same"),
        ("  - .name: scale", "  - .name: scaled", None, "a kernel needs both"),
        ("    .vgpr_count: 1\n", "", 59, "invalid HSA metadata"),
        (".amdhsa_kernel scale", ".amdhsa_kernel other", None, "a kernel needs both"),
    ],
)
def test_what_contradicts_the_file_or_the_rules_is_told_at_its_line(
    assembler: Assembler, old: str, new: str, line: int | None, expected: str
) -> None:
    assert old in SCALE
    result = compile_text(assembler, SCALE.replace(old, new, 1))
    assert not result.ok
    assert expected in result.findings[0].message, result.findings
    assert result.findings[0].line == line


def test_a_file_without_descriptor_or_without_code_is_refused(assembler: Assembler) -> None:
    head, _, tail = SCALE.partition(".rodata")
    assert "no kernel descriptor" in compile_text(assembler, head).findings[0].message
    plan = SCALE.partition(".text")[0]
    assert "has no code" in compile_text(assembler, f"{plan}.rodata{tail}").findings[0].message


def test_comments_go_and_lines_stay() -> None:
    metadata = ".amdgpu_metadata\n- x: # y\n.end_amdgpu_metadata\n"
    text = f'a ; b\n/* c\nd */ e // f\n.ascii "; // /* g"\n# h\n.loc 1 2 3\n{metadata}'
    lines = [line.rstrip() for line in cleaned(text).split("\n")]
    assert lines == [
        "a",
        "",
        " e",
        '.ascii "; // /* g"',
        "",
        "",
        ".amdgpu_metadata",
        "- x: # y",
        ".end_amdgpu_metadata",
        "",
    ]
    assert Path(SOURCE).suffix == ".s"
