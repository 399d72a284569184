"""The table of instructions, by itself and against LLVM's assembler."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sandbox.machine.executor import executor
from sandbox.machine.image_layout import NAME_BYTES, RESULTS, SOURCES
from sandbox.machine.instruction_decoder import decode_instruction
from sandbox.machine.instruction_set import OperandSpec, TableRow, find_row, instruction_table, operand_type
from sandbox.process import ProcessLimits, run
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.image_fields import fields

TABLE = instruction_table()
GROUPS = {
    *("valu", "trans", "mfma", "salu", "smem", "vmem", "flat", "scratch", "lds"),
    *("branch", "barrier", "wait", "nop", "message", "pseudo"),
}
NAMED = {"exec", "vcc", "scc", "m0", "mode", "flat_scratch"}
WORDS = {
    **{"label": "target", "imm16": "1", "waitcnt": "0", "hwreg": "hwreg(1, 0, 4)", "sendmsg": "1"},
    **{"gpridx": "gpr_idx(SRC0)", "format": "dfmt:1, nfmt:2"},
}
NUMBERS = {"simm16": "5", "uimm16": "5", "soffset": "0x10", "saddr": "off"}


def word(spec: OperandSpec, position: int, row: TableRow) -> str:
    """An operand that the table allows."""
    if spec.role in WORDS:
        return WORDS[spec.role]
    if spec.name == "vaddr":
        return {"vmem": "v[2:3]", "scratch": "v2"}[row.group] if "buffer" not in row.name else "off"
    if spec.name in NUMBERS:
        return NUMBERS[spec.name]
    if spec.files[0] in "ck":
        return "1" if spec.files[0] == "c" else "0x12345"
    if spec.files[0] == "s" and row.group == "valu" and spec.name == "b64":
        return "vcc"
    count = spec.type.dwords
    first = (position + 1) * (8 if count <= 4 else 16 if spec.files[0] == "s" else 32)
    return f"{spec.files[0]}{first}" if count == 1 else f"{spec.files[0]}[{first}:{first + count - 1}]"


def instance(row: TableRow) -> str:
    """One text of this instruction."""
    specs = [s for s in row.operands if not s.is_optional or row.name.startswith("buffer_load")]
    words = ", ".join(word(spec, position, row) for position, spec in enumerate(specs))
    return f"{row.name} {words}{' gds' if row.name.startswith('ds_gws') else ''}".strip()


INSTANCES = {row.name: instance(row) for row in TABLE.values() if row.group != "pseudo"}


def test_every_row_is_well_formed() -> None:
    assert len(TABLE) > 1150
    for row in TABLE.values():
        assert row.group in GROUPS and row.reads | row.writes <= NAMED, row
        assert re.fullmatch(r"[a-z0-9_]+", row.semantics) and len(row.semantics) < NAME_BYTES, row
        roles = [s.role for s in row.operands] + [left for left, _ in row.tied]
        assert len(roles) == len(set(roles)), row
        assert all(s.index < (RESULTS if s.is_result else SOURCES) for s in row.operands), row
        assert all(s.files for s in row.operands if s.is_result or s.is_source), row
        assert all(right in ("exec", *roles) for _, right in row.tied), row
        assert (
            ("exec" in row.reads) or row.group not in ("trans", "mfma", "vmem", "flat", "scratch") or not row.operands
        )


def test_one_semantics_has_one_shape() -> None:
    """Instructions that share a function give it the same sources: what the interpreter is written against."""
    shapes: dict[str, set[tuple[int, ...]]] = {}
    for row in TABLE.values():
        sources = {s.index: s.type.dwords for s in row.operands if s.is_source and not s.is_optional}
        sources |= {int(left[1:]): -1 for left, _ in row.tied if left[0] == "s"}
        shapes.setdefault(row.semantics, set()).add(tuple(sorted(sources)))
    assert {
        name: shapes_of_name for name, shapes_of_name in shapes.items() if len(shapes_of_name) > 1 and name != "refused"
    } == {}


def test_every_row_has_a_function_and_no_function_is_without_a_row() -> None:
    completed = subprocess.run(
        [executor(toolchain(), COMPILED), "semantics"], check=True, capture_output=True, text=True
    )
    assert set(completed.stdout.split()) == {row.semantics for row in TABLE.values()}


@pytest.mark.parametrize(
    ("name", "reads", "writes"),
    [
        ("v_add_f32", {"exec", "mode"}, set()),
        ("v_add_u32", {"exec"}, set()),
        ("v_div_fmas_f32", {"exec", "mode", "vcc"}, set()),
        ("v_cmpx_lt_i32", {"exec"}, {"exec"}),
        ("v_readlane_b32", set(), set()),
        ("v_readfirstlane_b32", {"exec"}, set()),
        ("s_add_u32", set(), {"scc"}),
        ("s_addc_u32", {"scc"}, {"scc"}),
        ("s_mul_i32", set(), set()),
        ("s_cselect_b64", {"scc"}, set()),
        ("s_and_saveexec_b64", {"exec"}, {"exec", "scc"}),
        ("s_cbranch_vccz", {"vcc"}, set()),
        ("s_movrels_b32", {"m0"}, set()),
        ("s_setreg_b32", set(), {"mode"}),
        ("global_load_lds_dword", {"exec", "m0"}, set()),
        ("ds_read_b32", {"exec"}, set()),
        ("ds_read_addtid_b32", {"exec", "m0"}, set()),
        ("flat_load_dword", {"exec", "flat_scratch"}, set()),
    ],
)
def test_what_instructions_read_and_write_beside_their_operands(name: str, reads: set[str], writes: set[str]) -> None:
    assert (set(TABLE[name].reads), set(TABLE[name].writes)) == (reads, writes)


def test_suffixes_are_encodings_of_one_row() -> None:
    for suffix in ("", "_e32", "_e64", "_dpp", "_sdwa"):
        row = find_row(f"v_add_f32{suffix}")
        assert row == (TABLE["v_add_f32"], suffix)
    assert find_row("v_add_f32_e96") is None
    assert find_row("v_accvgpr_write") == (TABLE["v_accvgpr_write_b32"], "")


def test_every_row_decodes() -> None:
    for name, text in INSTANCES.items():
        row, read = TABLE[name], fields(text)
        assert (read.semantics, read.bytes) == (row.semantics, row.memory_bytes)
        present = [s for s in row.operands if s.is_result and (not s.is_optional or name.startswith("buffer_load"))]
        assert len(read.results) == len(present) + sum(left[0] == "d" for left, _ in row.tied), name
        assert decode_instruction(text).row is row


@pytest.mark.slow
def test_every_row_exists_for_llvm(tmp_path: Path) -> None:
    names = sorted(INSTANCES)
    text = "\n".join(INSTANCES[name] for name in names)
    (tmp_path / "all.s").write_text(f"target:\n{text}\n", encoding="utf-8")
    compiler = toolchain()
    argv = compiler.command("clang", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx942", "-c", "all.s", "-o", "all.o")
    completed = run(argv, cwd=tmp_path, env=compiler.environment(), timeout_s=60, limits=ProcessLimits(cpu_s=60))
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize(
    ("name", "kind", "bits", "count", "dwords"),
    [
        ("f32", "f", 32, 1, 1),
        ("b64", "b", 64, 1, 2),
        ("i16", "i", 16, 1, 1),
        ("2xf16", "f", 16, 2, 1),
        ("3xb32", "b", 32, 3, 3),
        ("fp8", "fp8", 8, 1, 1),
        ("8xbf8", "bf8", 8, 8, 2),
    ],
)
def test_the_type_of_an_operand_is_read_from_its_name(name: str, kind: str, bits: int, count: int, dwords: int) -> None:
    found = operand_type(name)
    assert (found.element, found.bits, found.count, found.dwords) == (kind, bits, count, dwords)


@pytest.mark.parametrize("name", ["", "32", "x2f16", "F32", "f32 "])
def test_a_name_of_no_type_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no type"):
        operand_type(name)
