from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.parse import parse
from sandbox.machine.decoded_program import DecodedProgram, decode_listing
from sandbox.machine.image_layout import (
    CODE_BASE,
    DATA_BASE,
    HEADER,
    INSTRUCTION_BYTES,
    KERNEL,
    MAGIC,
    NAME_BYTES,
    SCC,
    SECTION,
)
from sandbox.machine.unreadable import UnreadableListing
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.few import few
from tests.support.image_fields import OperandFields, unpacked

ROOT = Path(__file__).parents[4]
SEEDS = sorted(path for path in ROOT.glob("tasks/*/seed*.hip") if "h200" not in path.name)

LISTING = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.text
\t.protected\tk                       ; -- Begin function k
\t.globl\tk
\t.p2align\t8
\t.type\tk,@function
k:                                      ; @k
.Lfunc_begin0:
\t.file\t0 "." "candidate.hip" md5 0x00
\t.file\t1 "include/hip" "scan.h"
\t.cfi_startproc
; %bb.0:
\t.loc\t0 10 3 prologue_end             ; candidate.hip:10:3
\ts_load_dwordx2 s[2:3], s[0:1], 0x0
.Ltmp0:
\t.loc\t1 38 13 is_stmt 1               ; include/hip/scan.h:38:13 @[ candidate.hip:71:9 @[ ./candidate.hip:12:1 ] ]
\tv_mov_b32_e32  v0,  0   ; spaces
\t; wave barrier
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
\t.loc\t0 0 5 is_stmt 0                 ; candidate.hip:0:5
\ts_cbranch_scc1 .LBB0_1
\ts_getpc_b64 s[4:5]
\ts_add_u32 s4, s4, table@rel32@lo+8
\ts_addc_u32 s5, s5, table@rel32@hi+16
\ts_getpc_b64 s[6:7]
\ts_add_u32 s6, s6, table@gotpcrel32@lo+4
\ts_addc_u32 s7, s7, table@gotpcrel32@hi+12
\ts_mov_b32 s8, size*2
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.p2align\t6, 0x0
\t.amdhsa_kernel k
\t\t.amdhsa_group_segment_fixed_size 512
\t\t.amdhsa_private_segment_fixed_size max(k.stack, 16)
\t\t.amdhsa_kernarg_size 16
\t\t.amdhsa_user_sgpr_dispatch_ptr 1
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t\t.amdhsa_system_sgpr_workgroup_id_y 1
\t\t.amdhsa_next_free_vgpr totalnumvgprs(k.agprs, 5)
\t\t.amdhsa_accum_offset ((alignto(5, 4)/4-1)&63)*4+4
\t\t.amdhsa_next_free_sgpr 9
\t\t.amdhsa_float_denorm_mode_32 3
\t\t.amdhsa_uses_dynamic_stack or(0, 1)
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
\t.set k.stack, 48
\t.set k.agprs, 3
\t.set size, 12
\t.type\ttable,@object
\t.section\t.rodata.table,"a",@progbits
\t.p2align\t4
table:
\t.byte\t1
\t.zero\t3
\t.long\t0x3f800000, 2
\t.quad\ttable+4
\t.quad\tk
\t.size\ttable, 24
\t.section\t.data,"aw",@progbits
counter:
\t.long\t7
\t.asciz\t"a;\\"b\\n"
\t.section\t.debug_info,"",@progbits
\t.byte\t1
\t.long\t.Lnowhere
\t.text
\t.p2alignl 6, 3212836864
\t.fill 48, 4, 3212836864
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     3
    .args:
      - .address_space:  global
        .name:           x.coerce
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 512
    .kernarg_segment_size: 16
    .max_flat_workgroup_size: 256
    .name:           k
    .private_segment_fixed_size: 48
    .uses_dynamic_stack: false
...
\t.end_amdgpu_metadata
"""


@pytest.fixture(scope="module")
def program() -> DecodedProgram:
    return decode_listing(LISTING)


def test_instructions_have_their_text_row_and_places(program: DecodedProgram) -> None:
    assert [i.row.name for i in program.instructions[:4]] == [
        *("s_load_dwordx2", "v_mov_b32", "wave_barrier", "s_cbranch_scc1")
    ]
    assert program.instructions[1].text == "v_mov_b32_e32 v0, 0"
    lines = LISTING.split("\n")
    assert all(
        i.mnemonic.removeprefix("wave_") in lines[row - 1]
        for i, row in zip(program.instructions, program.rows, strict=True)
    )
    assert program.chains[0] == (("candidate.hip", 10),)
    assert program.chains[1] == (("scan.h", 38), ("candidate.hip", 71), ("candidate.hip", 12))
    assert program.chains[3] == (("candidate.hip", 0),)


def test_symbols_are_guest_addresses(program: DecodedProgram) -> None:
    assert program.symbols["k"] == CODE_BASE
    assert program.symbols[".LBB0_1"] == CODE_BASE + 8 * 3
    assert program.targets == {3: 3}
    names = [section[0] for section in program.sections]
    assert names == [".rodata.table", ".data", ".got"]
    table, counter = program.symbols["table"] - DATA_BASE, program.symbols["counter"] - DATA_BASE
    assert program.data[table : table + 12] == bytes([1, 0, 0, 0, 0, 0, 0x80, 0x3F, 2, 0, 0, 0])
    pointers = struct.unpack("<2Q", program.data[table + 12 : table + 28])
    assert pointers == (DATA_BASE + table + 4, CODE_BASE)
    assert program.data[counter : counter + 4 + 6] == b'\7\0\0\0a;"b\n\0'
    assert [section[3] for section in program.sections] == [False, True, False]


def test_relative_addresses_count_from_what_s_getpc_gives(program: DecodedProgram) -> None:
    literals = [unpacked(program.instructions[i]).sources[1].bits for i in (5, 6, 8, 9)]
    address = CODE_BASE + 8 * 5 + (literals[0] | literals[1] << 32)
    assert address % (1 << 64) == program.symbols["table"] + 4
    slot = (CODE_BASE + 8 * 8 + (literals[2] | literals[3] << 32)) % (1 << 64) - DATA_BASE
    assert slot == program.sections[2][1]
    assert struct.unpack_from("<Q", program.data, slot) == (program.symbols["table"],)


def test_values_of_assigned_symbols_are_literals(program: DecodedProgram) -> None:
    assert unpacked(program.instructions[10]).sources[0].bits == 24


def test_kernels_hold_descriptor_and_metadata(program: DecodedProgram) -> None:
    kernel = program.kernels["k"]
    assert (kernel.entry, kernel.lds_bytes, kernel.scratch_bytes, kernel.kernarg_bytes) == (0, 512, 48, 16)
    assert (kernel.field("next_free_vgpr"), kernel.field("accum_offset")) == (11, 8)
    assert (kernel.max_workgroup_size, kernel.uses_dynamic_stack) == (256, True)
    assert [(a.name, a.offset, a.size, a.value_kind) for a in kernel.arguments] == [
        ("x.coerce", 0, 8, "global_buffer"),
        ("", 8, 4, "by_value"),
    ]


def test_the_image_is_what_the_interpreter_reads(program: DecodedProgram, tmp_path: Path) -> None:
    program.write_image(tmp_path / "image")
    image = (tmp_path / "image").read_bytes()
    assert image == program.image()
    magic, names, kernels, sections, data, instructions = HEADER.unpack_from(image)
    assert (magic, kernels, sections, instructions) == (MAGIC, 1, 3, len(program.instructions))
    room = io.BytesIO(image[HEADER.size :])
    names_read = [room.read(NAME_BYTES).rstrip(b"\0").decode() for _ in range(names)]
    kernel = KERNEL.unpack(room.read(KERNEL.size))
    # entry, LDS, scratch, arguments; 11 vectors, accumulation from 8; 9 scalars; dispatch and kernarg pointers
    assert kernel == (0, 512, 48, 16, 11, 8, 9, 2 | 8, 0, 0, 0b11, 0, 0, 0b11_11110000, 1)
    assert [SECTION.unpack(room.read(SECTION.size))[2] for _ in range(sections)] == [0, 1, 0]
    assert room.read(data) == program.data + bytes(-len(program.data) % 8)
    records = [room.read(INSTRUCTION_BYTES) for _ in range(instructions)]
    assert room.read() == b""
    assert [names_read[struct.unpack_from("<I", r)[0]] for r in records] == [
        i.row.semantics for i in program.instructions
    ]
    assert [r[4:] for r in records[:3]] == [i.body for i in program.instructions[:3]]
    assert struct.pack("<I", 3) in records[3]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("s_endpgm", "v_frob_b32 v0, v1"), "v_frob_b32"),
        (("s_cbranch_scc1 .LBB0_1", "s_cbranch_scc1 .LBB0_7"), ".LBB0_7"),
        (("s_cbranch_scc1 .LBB0_1", "s_cbranch_scc1 table"), "table"),
        (("s_cbranch_scc1 .LBB0_1", "s_cbranch_scc1 .Lfunc_end0"), ".Lfunc_end0"),
        (("\ts_getpc_b64 s[4:5]\n", ""), "table@rel32@lo+8"),
        (("size*2", "nobody*2"), "nobody"),
        (("size*2", "size*"), "size*"),
        (("\t.set size, 12", "\t.set size, size+1"), "size"),
        ((".quad\tk", ".quad\tnobody"), "nobody"),
        ((".long\t0x3f800000", ".long\tk"), "k"),
        (("\ts_endpgm", "\t.long 0xbf810000"), ".long 0xbf810000"),
        (("\ts_endpgm", "\t.frob 3"), ".frob 3"),
        (("counter:", "\t.frob 3"), ".frob"),
        (("counter:", "table:"), "table"),
        ((".zero\t3", ".zero\t1000000000"), "1000000000"),
        (("totalnumvgprs(k.agprs, 5)", "frob(5)"), "frob"),
        (("next_free_sgpr 9", "next_free_sgpr 0-9"), ".amdhsa_next_free_sgpr 0-9"),
        ((".value_kind:     by_value", ".frob:     1"), "k"),
        (("\t.end_amdgpu_metadata", ""), ".amdgpu_metadata or a comment"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(change: tuple[str, str], expected: str) -> None:
    assert change[0] in LISTING
    with pytest.raises(UnreadableListing) as refused:
        decode_listing(LISTING.replace(*change))
    assert refused.value.name == expected


def test_a_refusal_knows_its_line_and_its_place() -> None:
    with pytest.raises(UnreadableListing) as refused:
        decode_listing(LISTING.replace("v_mov_b32_e32  v0", "v_frob_b32  v0"))
    row = 1 + next(i for i, line in enumerate(LISTING.split("\n")) if "v_mov_b32" in line)
    assert (refused.value.row, refused.value.location) == (row, ("scan.h", 38))
    assert "v_frob_b32" in str(refused.value) and str(row) in str(refused.value)


def test_a_long_branch_finds_its_label() -> None:
    text = """\t.text
k:
\ts_getpc_b64 s[0:1]
.Lpost0:
\ts_add_u32 s0, s0, (.Lfar-.Lpost0)&4294967295
\ts_addc_u32 s1, s1, (.Lfar-.Lpost0)>>32
\ts_setpc_b64 s[0:1]
.Lfar:
\ts_endpgm
"""
    program = decode_listing(text)
    assert [unpacked(program.instructions[i]).sources[1].bits for i in (1, 2)] == [24, 0]


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(toolchain(), COMPILED, load_target("mi300x"))


def check_operand(operand: OperandFields) -> None:
    end = operand.index + operand.dwords
    assert operand.kind != "v" or end <= 512, operand
    assert operand.kind != "v" or (operand.index < 256) == (end <= 256), operand
    assert operand.kind != "s" or end <= SCC + 1, operand


def check(program: DecodedProgram) -> None:
    count = len(program.instructions)
    assert len(program.chains) == len(program.rows) == count
    assert all(0 <= target < count for target in program.targets.values())
    for index, instruction in enumerate(program.instructions):
        fields_read = unpacked(instruction)
        for operand in (*fields_read.results, *fields_read.sources):
            check_operand(operand)
        assert (index in program.targets) == bool(instruction.label)


@pytest.mark.slow
@pytest.mark.parametrize("path", few(SEEDS, 3, lambda path: f"{path.parent.name}/{path.stem}"))
def test_a_seed_decodes_whole(compiler: Compiler, path: Path) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    result = compiler.compile(candidate, candidate.defaults(), is_assembled=False)
    assert result.ok, result.diagnostics
    program = decode_listing(result.listing)
    check(program)
    assert set(program.kernels) == {kernel.symbol for kernel in result.kernels}
    for kernel in result.kernels:
        decoded = program.kernels[kernel.symbol]
        assert (decoded.lds_bytes, decoded.scratch_bytes) == (kernel.lds_bytes, kernel.scratch_bytes)
        assert decoded.max_workgroup_size == kernel.max_block
        explicit = [a for a in decoded.arguments if not a.value_kind.startswith("hidden_")]
        assert [(a.offset, a.size) for a in explicit] == [(a.offset, a.size) for a in kernel.args]
    marked = [chain[-1] for chain in program.chains if chain and chain[-1][1]]
    assert {file for file, _ in marked} == {"candidate.hip"}
