"""One line of assembly to one instruction of the image; the same text gives the same bytes and is decoded once.

What stands in the image's sources, beside the roles that the table gives:
memory      s0 address (vector; of scalar memory the base), s1 data, s2 base or resource (scalar), s3 offset (scalar).
            Scalar memory: s1 offset register, s2 data. LDS: s1 and s2 data. What is missing has the kind `none`.
            A buffer atomic that returns has its data register as result, too.
SC0         is sc0 or glc as it stands: of loads and stores it is a part of the scope.
DPP         is on source 0, or on source 1 with DPP_ON_SECOND: the first one of the text, of operands that are swapped.
selected    of v_cvt_sr_fp8_f32 and v_cvt_sr_bf8_f32 the byte that is written, as 1 plus its number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandbox.machine import fields
from sandbox.machine.image_layout import ABSENT, OPERAND, Flag, OperandKind
from sandbox.machine.instruction_draft import NO_SETTINGS, InstructionDraft, number
from sandbox.machine.instruction_set import OperandSpec, OperandType, TableRow, find_row
from sandbox.machine.modifier_effects import apply_modifiers, check_memory
from sandbox.machine.modifiers import Settings, read_modifiers
from sandbox.machine.operands import encode, integer, is_number, register
from sandbox.machine.unreadable import UnreadableListing

MAX_LINE = 2048  # characters of an instruction
_KEPT = 100_000  # texts whose bytes are kept
_COMMAS = re.compile(r"\s*,\s*(?![^\[\(]*[\]\)])")
_SPACES = re.compile(r"\s+(?![^\[\(]*[\]\)])")
_ADDRESS = OperandType("u", 64)
_HALF, _WORD = OperandType("f", 16), OperandType("i", 32)
_MEMORY = {"flat": Flag.GENERIC, "lds": Flag.LOCAL}  # where an address leads
_BESIDE = {  # registers beside the operands; of vector instructions it goes without saying that they read EXEC
    "scc": (Flag.READS_SCC, Flag.WRITES_SCC),
    "vcc": (Flag.READS_VCC, Flag(0)),
    "exec": (Flag.READS_EXEC, Flag.WRITES_EXEC),
    "m0": (Flag.READS_M0, Flag.WRITES_M0),
}


@dataclass(frozen=True)
class DecodedInstruction:
    """The meaning of one text, wherever it stands; `body` is the image's bytes behind the number of its semantics."""

    text: str
    mnemonic: str
    row: TableRow
    body: bytes
    label: str = ""  # that it branches to
    operands: tuple[str, ...] = ()  # of the text, without modifiers


_decoded: dict[str, DecodedInstruction] = {}


def decode_instruction(text: str) -> DecodedInstruction:
    """Decode this text, single-spaced and without comment; UnreadableListing says what is unknown."""
    if (cached := _decoded.get(text)) is not None:
        return cached
    if len(text) > MAX_LINE:
        raise UnreadableListing("this instruction is too long", text[:80])
    if len(_decoded) >= _KEPT:
        _decoded.clear()
    _decoded[text] = decoded = _decode(text)
    return decoded


def _decode(text: str) -> DecodedInstruction:
    mnemonic, _, operand_text = text.partition(" ")
    entry = find_row(mnemonic)
    if entry is None:
        raise UnreadableListing("this instruction is not known on gfx942", mnemonic[:80])
    row, suffix = entry
    if row.operands and row.operands[0].role == "waitcnt":
        draft = InstructionDraft(row, NO_SETTINGS, counts=fields.wait_counts(operand_text))
        return DecodedInstruction(text, mnemonic, row, draft.packed(), "", (operand_text,))
    words, settings = _split(operand_text, row)
    flags = number(settings, "flags") | _MEMORY.get(row.group, 0) | _beside(row)
    draft = InstructionDraft(row, settings, flags=flags)
    specs = _present(row, words, draft)
    for spec, word in zip(specs, words, strict=True):
        _read(draft, spec, word)
    apply_modifiers(draft, specs, suffix)
    if row.memory_bytes:
        check_memory(draft)
    return DecodedInstruction(text, mnemonic, row, draft.packed(), draft.label, tuple(words))


def _beside(row: TableRow) -> int:
    """Flag the registers that a row reads and writes beside its operands."""
    names = [name for name in _BESIDE if name != "exec" or row.name.startswith("s_")]
    read = sum(_BESIDE[name][0] for name in names if name in row.reads)
    return int(read + sum(_BESIDE[name][1] for name in names if name in row.writes))


def _split(operand_text: str, row: TableRow) -> tuple[list[str], Settings]:
    """Split the operands from what stands behind the last of them."""
    if not row.operands or not operand_text:
        return [], read_modifiers(operand_text) if operand_text else NO_SETTINGS
    is_plain = not any(mark in operand_text for mark in ("(", "[", "  "))
    set_off = operand_text.split(", ") if is_plain else _COMMAS.split(operand_text.strip())
    words, behind = [], []
    for word in set_off:  # operands may stand without commas, modifiers with them
        parts = _SPACES.split(word) if " " in word else [word]
        count = next((i for i, part in enumerate(parts[1:], 1) if not register(part)), len(parts))
        words += parts[:count]
        behind += parts[count:]
    while len(words) > 1 and ":" in words[-1] and "[" not in words[-1].partition(":")[0]:
        behind.insert(0, words.pop())
    return words, read_modifiers(" ".join(behind)) if behind else NO_SETTINGS


def _present(row: TableRow, words: list[str], draft: InstructionDraft) -> tuple[OperandSpec, ...]:
    """Choose the operands that this text has."""
    specs = row.operands
    if specs and specs[-1].role == "imm16" and not words and row.name == "s_endpgm":
        return ()
    if row.has_format:
        specs = tuple(spec for spec in specs if spec.role != "format")
        if len(words) > len(specs):  # dfmt and nfmt stand before the offset
            read = read_modifiers(" ".join(words[3:-1]))
            draft.settings = {**draft.settings, **{k: v for k, v in read.items() if k != "flags"}}
            del words[3:-1]
    if row.has_optional:
        if len(words) < len(specs):
            specs = tuple(spec for spec in specs if not spec.is_optional)
        elif draft.flags & Flag.TO_LDS:
            specs = ()
    if len(words) != len(specs):
        raise UnreadableListing(f"{row.name} takes another number of operands than {len(words)}", " ".join(words)[:80])
    return specs


def _read(draft: InstructionDraft, spec: OperandSpec, word: str) -> None:
    if spec.is_result:
        draft.results[spec.index] = encode(word, spec.type, spec.type.dwords, spec.files)
    elif spec.name in _SPECIAL:
        draft.sources[spec.index] = _SPECIAL[spec.name](draft, word)
    elif spec.is_source:
        type_ = spec.type
        if type_.element == "m":
            type_ = _HALF if draft.bit("op_sel_hi", spec.index) else OperandType("f", 32)
        draft.sources[spec.index] = encode(word, type_, type_.dwords, spec.files)
    elif spec.role == "label":
        if is_number(word) or register(word):
            raise UnreadableListing("a branch must name its label", word)
        draft.label = word
    elif spec.role == "hwreg":
        draft.control = fields.hardware_register(word)
    else:
        draft.offset = {"sendmsg": fields.message, "gpridx": fields.index_mode}.get(spec.role, fields.word16)(word)


def _vector_address(draft: InstructionDraft, word: str) -> bytes:
    """Encode a vector address: `off`, one register beside a scalar base, of scratch and of one index, or else two."""
    if word == "off":
        return ABSENT
    registers = register(word)
    if registers is None or registers[0] != "v":
        raise UnreadableListing("this is no vector address", word[:80])
    draft.flags |= Flag.HAS_ADDRESS
    return encode(word, _ADDRESS, registers[2], "v")


def _scalar_base(draft: InstructionDraft, word: str) -> bytes:
    if word == "off":
        return ABSENT
    draft.flags |= Flag.HAS_BASE
    return encode(word, _ADDRESS, 1 if draft.row.group == "scratch" else 2, "s")


def _scalar_offset(draft: InstructionDraft, word: str) -> bytes:
    if is_number(word):
        draft.offset = integer(word)
        if not -(1 << 20) <= draft.offset < 1 << 21:
            raise UnreadableListing("this offset is out of range", word)
        return ABSENT
    return encode(word, _WORD, 1, "s")


def _signed_immediate(draft: InstructionDraft, word: str) -> bytes:
    value = fields.word16(word)
    return OPERAND.pack(OperandKind.CONSTANT, 1, 0, 0, 0, value | 0xFFFF0000 if value >> 15 else value)


def _unsigned_immediate(draft: InstructionDraft, word: str) -> bytes:
    return OPERAND.pack(OperandKind.CONSTANT, 1, 0, 0, 0, fields.word16(word))


_SPECIAL = {
    "vaddr": _vector_address,
    "saddr": _scalar_base,
    "soffset": _scalar_offset,
    "simm16": _signed_immediate,
    "uimm16": _unsigned_immediate,
}
