"""The instruction table of gfx942: what each instruction reads, writes, costs and means.

`instructions.tsv` has a line for each mnemonic, without the suffix of its encoding. Its operands stand in the order of
assembly text, each as `role:type@files`. Roles: `d0` and `d1` are results, `s0` to `s3` are the sources that the
function named under `semantics` takes, in its order; a question mark behind a role means that it may be missing.
`s2=d0` is a source that is no operand of the text: the old value of that result, and `d1=exec` a result that is none.
A type is a count and an element, such as `f32`, `2xf16` or `16xf32`; `m32` is a float or a half, as op_sel_hi says.
Files: v vector, a accumulation, s scalar registers, c inline constants, k literals. A role without a type is a field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from sandbox.machine.image_layout import Unit

TABLE = Path(__file__).parent / "instructions.tsv"
SUFFIXES = ("_e32", "_e64_dpp", "_e64", "_dpp", "_sdwa")
_ALIASES = {"v_accvgpr_read": "v_accvgpr_read_b32", "v_accvgpr_write": "v_accvgpr_write_b32"}
_TYPE = re.compile(r"(?:(\d+)x)?(fp8|bf8|[a-z]+)(\d*)")
_ADDRESSES = {"vaddr": "v", "saddr": "s", "soffset": "sck", "simm16": "k", "uimm16": "k"}
_SCALAR_CLASSES = ("salu", "branch", "smem", "message")
_VECTOR_CLASSES = ("valu", "trans", "mfma")


@dataclass(frozen=True, slots=True)
class OperandType:
    """`count` elements of `bits` each; `element` is f, bf, i, u, b (no arithmetic), m (float or half), fp8 or bf8."""

    element: str
    bits: int
    count: int = 1

    @property
    def dwords(self) -> int:
        """Registers that it spans."""
        return max(1, self.bits * self.count // 32)

    @property
    def is_packed(self) -> bool:
        """True where op_sel_hi chooses what the upper result takes."""
        return self.count == 2 and self.bits <= 32

    @property
    def is_float(self) -> bool:
        """True where neg and abs mean the sign bit of each element."""
        return self.element in ("f", "bf", "m")


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """One operand of the text, in the order of the text."""

    role: str  # d0, d1, s0 to s3, or a field: label, imm16, waitcnt, hwreg, sendmsg, gpridx, format
    name: str = ""  # the type's name; vaddr, saddr, soffset, simm16 and uimm16 are none
    type: OperandType = field(default=OperandType("b", 32))
    files: str = ""
    is_optional: bool = False
    is_result: bool = False
    is_source: bool = False
    index: int = 0  # among the results or the sources


@dataclass(frozen=True)
class TableRow:
    """One instruction of the table."""

    name: str
    operands: tuple[OperandSpec, ...]
    tied: tuple[tuple[str, str], ...]  # a source that is a result's old value, a result that is a named register
    reads: frozenset[str]  # beside its operands: exec, vcc, scc, m0, mode, flat_scratch
    writes: frozenset[str]
    group: str  # valu, trans, mfma, salu, smem, vmem, flat, scratch, lds, branch, barrier, wait, nop, message, pseudo
    latency: str
    semantics: str
    memory_bytes: int  # that a lane moves, 0 of what is no load, store or atomic

    unit: int  # image_layout.Unit, and from bit 4 on the binary logarithm of its passes
    is_packed: bool  # op_sel_hi is all ones unless the text says otherwise
    has_format: bool  # the format of a typed buffer access may stand among the operands
    has_optional: bool

    @property
    def is_atomic(self) -> bool:
        """True of read-modify-write accesses."""
        return "atomic" in self.semantics


@cache
def instruction_table() -> dict[str, TableRow]:
    """Read every row, by mnemonic."""
    return {name: row for name in _lines() if (row := table_row(name))}


@cache
def table_row(name: str) -> TableRow | None:
    """Look up the row of this name without suffix, None where there is none; read when it is asked for."""
    line = _lines().get(name)
    return _row(line.split("\t")) if line else None


@lru_cache(8192)
def find_row(mnemonic: str) -> tuple[TableRow, str] | None:
    """Find the row of a mnemonic as a listing has it, and the suffix of its encoding; None where there is none."""
    if row := table_row(_ALIASES.get(mnemonic, mnemonic)):
        return row, ""
    for suffix in SUFFIXES:
        if mnemonic.endswith(suffix) and (row := table_row(mnemonic.removesuffix(suffix))):
            return row, suffix
    return None


@cache
def _lines() -> dict[str, str]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return {line[: line.index("\t")]: line for line in lines[1:]}


@cache
def operand_type(name: str) -> OperandType:
    """Read the type of this name, such as f32 or 2xf16."""
    match = _TYPE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name} is no type of an operand")
    bits = int(match[3]) if match[3] else 8
    return OperandType(match[2], bits, int(match[1] or 1))


def _row(cells: list[str]) -> TableRow:
    name, operands, reads, writes, group, latency, semantics, size = cells
    tokens = [] if operands == "-" else operands.split()
    specs = tuple(_spec(token, group) for token in tokens if "=" not in token)
    return TableRow(
        name,
        specs,
        tuple((left, right) for left, _, right in (token.partition("=") for token in tokens if "=" in token)),
        frozenset() if reads == "-" else frozenset(reads.split()),
        frozenset() if writes == "-" else frozenset(writes.split()),
        group,
        latency,
        semantics,
        int(size),
        _unit(name, group, latency),
        group == "valu" and any(spec.is_source and spec.type.is_packed for spec in specs),
        any(spec.role == "format" for spec in specs),
        any(spec.is_optional for spec in specs),
    )


CLOCKS_OF_PASS = 4  # a SIMD has 16 lanes
_UNITS = {"salu": Unit.SALU, "valu": Unit.VALU, "trans": Unit.TRANS, "lds": Unit.LDS_UNIT, "pseudo": Unit.NO_UNIT}
_UNITS |= {"vmem": Unit.FLAT_UNIT, "flat": Unit.FLAT_UNIT, "scratch": Unit.FLAT_UNIT}


def _unit(name: str, group: str, latency: str) -> int:
    if match := re.fullmatch(r"(xdl|sgemm|dgemm)(\d+)", latency):
        return Unit[match[1].upper()] | int(match[2]).bit_length() - 1 << 4
    if match := re.fullmatch(r"(valu|trans)(16|32)", latency):
        return Unit[match[1].upper()] | (int(match[2]) // CLOCKS_OF_PASS).bit_length() - 1 << 4
    starts = {"s_nop": Unit.PAUSE, "v_dot": Unit.DOT, "buffer_": Unit.VMEM, "tbuffer_": Unit.VMEM}
    return next((unit for start, unit in starts.items() if name.startswith(start)), _UNITS.get(group, Unit.OTHER_UNIT))


def _spec(token: str, group: str) -> OperandSpec:
    role, _, type_text = token.partition(":")
    is_optional = role.endswith("?")
    role = role.removesuffix("?")
    numbered = role[1:].isdigit()
    is_result, is_source = numbered and role[0] == "d", numbered and role[0] == "s"
    index = int(role[1:]) if numbered else 0
    name, _, files = type_text.partition("@")
    type_ = OperandType("b", 32)
    if name in _ADDRESSES:
        files = _ADDRESSES[name]
    elif name:
        type_, files = operand_type(name), files or _default_files(role, group)
    return OperandSpec(role, name, type_, files, is_optional, is_result, is_source, index)


def _default_files(role: str, group: str) -> str:
    if group in _SCALAR_CLASSES:
        return "s" if role[0] == "d" else "sck"
    if group in _VECTOR_CLASSES:
        return "v" if role[0] == "d" else "vsck"
    return "sc"
