"""One line of assembly to one instruction of the image; the same text gives the same bytes and is decoded once.

What stands in the image's sources, beside the roles that the table gives:
memory      s0 address (vector; of scalar memory the base), s1 data, s2 base or resource (scalar), s3 offset (scalar).
            Scalar memory: s1 offset register, s2 data. LDS: s1 and s2 data. What is missing has the kind `none`.
            A buffer atomic that returns has its data register as result, too.
RETURNS     is sc0 or glc as it stands: of loads and stores it is a part of the scope.
DPP         is on source 0, or on source 1 with DPP_ON_SECOND: the first one of the text, of operands that are swapped.
selected    of v_cvt_sr_fp8_f32 and v_cvt_sr_bf8_f32 the byte that is written, as 1 plus its number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sandbox.machine import fields
from sandbox.machine.instruction_set import OperandSpec, OperandType, TableRow, find_row
from sandbox.machine.layout import (
    ABSENT,
    EXEC,
    HEAD,
    NOWHERE,
    OPERAND,
    RESULTS,
    SOURCES,
    TAIL,
    Flag,
    Modifier,
    OperandKind,
)
from sandbox.machine.modifiers import Settings, read_modifiers
from sandbox.machine.operands import encode, integer, is_number, register
from sandbox.machine.unreadable import UnreadableListing

MAX_LINE = 2048  # characters of an instruction
_KEPT = 100_000  # texts whose bytes are kept
_COMMAS = re.compile(r"\s*,\s*(?![^\[\(]*[\]\)])")
_SPACES = re.compile(r"\s+(?![^\[\(]*[\]\)])")
_EXEC = OPERAND.pack(OperandKind.SCALAR, 2, 0, 0, EXEC, 0)
_ADDRESS = OperandType("u", 64)
_HALF, _WORD = OperandType("f", 16), OperandType("i", 32)
_NO_SETTINGS: Settings = {"flags": 0}
_MEMORY = {"flat": Flag.GENERIC, "lds": Flag.LOCAL}  # where an address leads


@dataclass(frozen=True)
class DecodedInstruction:
    """What one text means, wherever it stands; `body` is the image's bytes behind the number of its semantics."""

    text: str
    mnemonic: str
    row: TableRow
    body: bytes
    label: str = ""  # that it branches to
    operands: tuple[str, ...] = ()  # of the text, without modifiers


@dataclass
class _Draft:
    """An instruction while its operands are read."""

    row: TableRow
    settings: Settings
    results: list[bytes] = field(default_factory=lambda: [ABSENT] * RESULTS)
    sources: list[bytes] = field(default_factory=lambda: [ABSENT] * SOURCES)
    label: str = ""
    flags: int = 0
    offset: int = 0
    control: int = 0
    counts: tuple[int, int, int] = (fields.UNWAITED,) * 3


_decoded: dict[str, DecodedInstruction] = {}


def decode_instruction(text: str) -> DecodedInstruction:
    """The instruction of this text, single-spaced and without comment; UnreadableListing says what is unknown."""
    if (known := _decoded.get(text)) is not None:
        return known
    if len(text) > MAX_LINE:
        raise UnreadableListing("this instruction is too long", text[:80])
    if len(_decoded) >= _KEPT:
        _decoded.clear()
    _decoded[text] = made = _decode(text)
    return made


def _decode(text: str) -> DecodedInstruction:
    mnemonic, _, rest = text.partition(" ")
    entry = find_row(mnemonic)
    if entry is None:
        raise UnreadableListing("this instruction is not known on gfx942", mnemonic[:80])
    row, suffix = entry
    if row.operands and row.operands[0].role == "waitcnt":
        draft = _Draft(row, _NO_SETTINGS, counts=fields.wait_counts(rest))
        return DecodedInstruction(text, mnemonic, row, _packed(draft), "", (rest,))
    words, settings = _split(rest, row)
    draft = _Draft(row, settings, flags=int(settings["flags"]) | _MEMORY.get(row.group, 0))  # type: ignore[arg-type]
    specs = _present(row, words, draft)
    for spec, word in zip(specs, words, strict=True):
        _read(draft, spec, word)
    _finish(draft, specs, suffix)
    return DecodedInstruction(text, mnemonic, row, _packed(draft), draft.label, tuple(words))


def _split(rest: str, row: TableRow) -> tuple[list[str], Settings]:
    """The operands, and what stands behind the last of them."""
    if not row.operands or not rest:
        return [], read_modifiers(rest) if rest else _NO_SETTINGS
    words = _COMMAS.split(rest.strip()) if "(" in rest or "[" in rest or "  " in rest else rest.split(", ")
    behind = []
    for i, word in enumerate(words):  # modifiers may be set off by commas, too
        parts = _SPACES.split(word) if " " in word else [word]
        words[i] = parts[0]
        behind += parts[1:]
    while len(words) > 1 and ":" in words[-1] and "[" not in words[-1].partition(":")[0]:
        behind.insert(0, words.pop())
    return words, read_modifiers(" ".join(behind)) if behind else _NO_SETTINGS


def _present(row: TableRow, words: list[str], draft: _Draft) -> tuple[OperandSpec, ...]:
    """The operands that this text has."""
    specs = row.operands
    if specs and specs[-1].role == "imm16" and not words and row.name == "s_endpgm":
        return ()
    if any(spec.role == "format" for spec in specs):
        specs = tuple(spec for spec in specs if spec.role != "format")
        if len(words) > len(specs):  # dfmt and nfmt stand before the offset
            read = read_modifiers(" ".join(words[3:-1]))
            draft.settings = {**draft.settings, **{k: v for k, v in read.items() if k != "flags"}}
            del words[3:-1]
    if len(words) < len(specs):
        specs = tuple(spec for spec in specs if not spec.is_optional)
    elif any(spec.is_optional for spec in specs) and draft.flags & Flag.TO_LDS:
        specs = ()
    if len(words) != len(specs):
        raise UnreadableListing(f"{row.name} takes another number of operands than {len(words)}", " ".join(words)[:80])
    return specs


def _read(draft: _Draft, spec: OperandSpec, word: str) -> None:
    if spec.is_result:
        draft.results[spec.place] = encode(word, spec.type, spec.type.dwords, spec.files)
    elif spec.name in _SPECIAL:
        draft.sources[spec.place] = _SPECIAL[spec.name](draft, word)
    elif spec.is_source:
        type_ = spec.type
        if type_.element == "m":
            type_ = _HALF if _bit(draft.settings, "op_sel_hi", spec.place) else OperandType("f", 32)
        draft.sources[spec.place] = encode(word, type_, type_.dwords, spec.files)
    elif spec.role == "label":
        if is_number(word) or register(word):
            raise UnreadableListing("a branch must name its label", word)
        draft.label = word
    elif spec.role == "hwreg":
        draft.control = fields.hardware_register(word)
    else:
        draft.offset = {"sendmsg": fields.message, "gpridx": fields.index_mode}.get(spec.role, fields.word16)(word)


def _vector_address(draft: _Draft, word: str) -> bytes:
    """The vector address: `off`, one register beside a scalar base, of scratch and of one index, or else two."""
    if word == "off":
        return ABSENT
    found = register(word)
    if found is None or found[0] != "v":
        raise UnreadableListing("this is no vector address", word[:80])
    draft.flags |= Flag.HAS_ADDRESS
    return encode(word, _ADDRESS, found[2], "v")


def _scalar_base(draft: _Draft, word: str) -> bytes:
    if word == "off":
        return ABSENT
    draft.flags |= Flag.HAS_BASE
    return encode(word, _ADDRESS, 1 if draft.row.group == "scratch" else 2, "s")


def _scalar_offset(draft: _Draft, word: str) -> bytes:
    if is_number(word):
        draft.offset = integer(word)
        if not -(1 << 20) <= draft.offset < 1 << 21:
            raise UnreadableListing("this offset is out of range", word)
        return ABSENT
    return encode(word, _WORD, 1, "s")


def _signed_immediate(draft: _Draft, word: str) -> bytes:
    value = fields.word16(word)
    return OPERAND.pack(OperandKind.CONSTANT, 1, 0, 0, 0, value | 0xFFFF0000 if value >> 15 else value)


def _unsigned_immediate(draft: _Draft, word: str) -> bytes:
    return OPERAND.pack(OperandKind.CONSTANT, 1, 0, 0, 0, fields.word16(word))


_SPECIAL = {
    "vaddr": _vector_address,
    "saddr": _scalar_base,
    "soffset": _scalar_offset,
    "simm16": _signed_immediate,
    "uimm16": _unsigned_immediate,
}


def _bit(settings: Settings, name: str, place: int, default: int = 0) -> int:
    bits = settings.get(name)
    if not isinstance(bits, tuple):
        return default
    return bits[place] if place < len(bits) else default


def _finish(draft: _Draft, specs: tuple[OperandSpec, ...], suffix: str) -> None:
    """What the text as a whole decides: tied operands, op_sel and its like, DPP, SDWA, widths of addresses."""
    row, settings = draft.row, draft.settings
    if settings is not _NO_SETTINGS:
        _apply_lists(draft, specs)
    if row.is_packed and "op_sel_hi" not in settings:
        for spec in specs:
            if spec.is_source and spec.type.is_packed:
                draft.sources[spec.place] = _with(draft.sources[spec.place], Modifier.HIGH_OF_HIGH)
    for left, right in row.tied:
        if left[0] == "d":
            draft.results[int(left[1:])] = _EXEC
        else:
            draft.sources[int(left[1:])] = draft.results[int(right[1:])]
    if "dpp" in settings:
        draft.control = int(settings["dpp"])  # type: ignore[arg-type]
        first = next(spec for spec in specs if spec.is_source)
        draft.flags |= Flag.DPP | (Flag.DPP_ON_SECOND if first.place == 1 else 0)
        draft.flags |= Flag.BOUND_CONTROL if "bound_ctrl" in settings else 0
    elif suffix in ("_dpp", "_e64_dpp"):
        raise UnreadableListing("this instruction has no DPP control", row.name)
    if suffix == "_sdwa" or "dst_sel" in settings or "src0_sel" in settings:
        _apply_sdwa(draft, specs)
    if row.memory_bytes:
        _check_memory(draft)


def _apply_lists(draft: _Draft, specs: tuple[OperandSpec, ...]) -> None:
    """op_sel, op_sel_hi, neg_lo and neg_hi stand in the order of the text's sources, the result last."""
    settings, row = draft.settings, draft.row
    sources = [spec for spec in specs if spec.is_source]
    pairs = (
        ("op_sel", Modifier.HIGH),
        ("op_sel_hi", Modifier.HIGH_OF_HIGH),
        ("neg_lo", Modifier.NEGATE),
        ("neg", Modifier.NEGATE),
        ("neg_hi", Modifier.ABSOLUTE if "fma_mix" in row.name else Modifier.NEGATE_HIGH),
    )
    for name, modifier in pairs:
        if not isinstance(bits := settings.get(name), tuple):
            continue
        for spec, bit in zip(sources, bits, strict=False):
            if bit:
                draft.sources[spec.place] = _with(draft.sources[spec.place], modifier)
    if not isinstance(bits := settings.get("op_sel"), tuple) or row.is_packed:
        return
    if row.name.startswith("v_cvt_sr_"):
        low, high = (*bits, 0, 0, 0, 0)[2:4]
        draft.settings = {**settings, "dst_sel": 1 + low + 2 * high}
    elif len(bits) > len(sources) and bits[len(sources)]:
        draft.results[0] = _with(draft.results[0], Modifier.HIGH)


def _apply_sdwa(draft: _Draft, specs: tuple[OperandSpec, ...]) -> None:
    settings = draft.settings
    if draft.row.name.startswith("v_cvt_sr_"):
        return
    draft.flags |= Flag.SDWA
    if not draft.row.name.startswith("v_cmp"):
        draft.flags |= int(settings.get("unused", Flag.PRESERVES_UNUSED))  # type: ignore[arg-type]
    for spec, name in zip((s for s in specs if s.is_source), ("src0_sel", "src1_sel"), strict=False):
        if select := settings.get(name):
            operand = bytearray(draft.sources[spec.place])
            operand[3] = int(select)  # type: ignore[arg-type]
            draft.sources[spec.place] = bytes(operand)


def _check_memory(draft: _Draft) -> None:
    """Addresses have the width that their form needs; an atomic returns where it says so."""
    row, flags = draft.row, draft.flags
    is_buffer = row.semantics.startswith(("buffer", "tbuffer"))
    if row.operands[-1].name == "saddr" or is_buffer:
        width = draft.sources[0][1]
        if is_buffer:
            wanted = bool(flags & Flag.OFFSET_ENABLED) + bool(flags & Flag.INDEX_ENABLED)
        else:
            wanted = 1 if row.group == "scratch" or flags & Flag.HAS_BASE else 2
        if width != wanted and (width or is_buffer or row.group != "scratch"):
            raise UnreadableListing(f"this address has {width} registers instead of {wanted}", row.name)
    if not row.is_atomic or row.group in ("lds", "smem"):
        if row.is_atomic and row.group == "smem" and flags & Flag.RETURNS:
            draft.results[0] = _narrowed(draft.sources[2], row.memory_bytes // 4)
        return
    if is_buffer and flags & Flag.RETURNS:
        draft.results[0] = _narrowed(draft.sources[1], row.memory_bytes // 4)
    elif (draft.results[0] is not ABSENT) != bool(flags & Flag.RETURNS):
        raise UnreadableListing("an atomic returns a value if and only if it has sc0", row.name)


def _narrowed(operand: bytes, dwords: int) -> bytes:
    return operand[:1] + bytes([dwords]) + operand[2:]


def _with(operand: bytes, modifier: int) -> bytes:
    return operand[:2] + bytes([operand[2] | modifier]) + operand[3:] if operand is not ABSENT else operand


def _packed(draft: _Draft) -> bytes:
    row, settings = draft.row, draft.settings
    results = sum(result is not ABSENT for result in draft.results)
    sources = max((i + 1 for i, source in enumerate(draft.sources) if source is not ABSENT), default=0)
    flags, offset, control = draft.flags, draft.offset, draft.control
    if settings is not _NO_SETTINGS:
        if row.name == "ds_swizzle_b32":
            control = _setting(settings, "offset") & 0xFFFF
        else:
            offset += _setting(settings, "offset") + _setting(settings, "offset0")
        if "format" in row.semantics:
            control = _setting(settings, "format") or _setting(settings, "dfmt") | _setting(settings, "nfmt") << 4
    if "st64" in row.name:
        flags |= Flag.STRIDE_64
    if row.group == "lds" and results and row.is_atomic:
        flags |= Flag.RETURNS
    wait = sum(1 << i for i, count in enumerate(draft.counts) if count != fields.UNWAITED)
    tail = TAIL.pack(
        offset,
        _setting(settings, "offset1"),
        NOWHERE,
        flags,
        control,
        _setting(settings, "row_mask", 15),
        _setting(settings, "bank_mask", 15),
        _setting(settings, "omod"),
        _setting(settings, "dst_sel"),
        _setting(settings, "cbsz"),
        _setting(settings, "abid"),
        _setting(settings, "blgp"),
        *draft.counts,
    )
    return HEAD.pack(0, results, sources, row.memory_bytes, wait)[4:] + b"".join(draft.results + draft.sources) + tail


def _setting(settings: Settings, name: str, default: int = 0) -> int:
    return int(settings.get(name, default))  # type: ignore[arg-type]
