"""Operands of assembly text: registers, and constants extended as the instruction reads them.

Rules of the constants (AMD's CDNA3 instruction set, 3.1 and 4.1; LLVM's assembler): an inline float is a half, a float
or a double by the operand's type; an inline integer is sign-extended; a literal has 32 bits, which are the upper half
of a double, sign-extended for i64 and zero-extended for u64 and b64. In packed halves an inline float fills the lower
half only, in packed floats the lower float.
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache

from sandbox.machine.image_layout import (
    ACCUMULATION,
    EXEC,
    FLAT_SCRATCH,
    LAST_SCALAR,
    LAST_VECTOR,
    LDS_BASE,
    M0,
    OPERAND,
    PRIVATE_BASE,
    SCC,
    TRAP_TEMPORARIES,
    VCC,
    XNACK_MASK,
    Modifier,
    OperandKind,
)
from sandbox.machine.instruction_set import OperandType
from sandbox.machine.unreadable import UnreadableListing

_REGISTER = re.compile(r"(v|s|a|ttmp)(?:(\d{1,3})|\[(\d{1,3})(?::(\d{1,3}))?\])")
_LIST = re.compile(r"\[(?:[vsa]\d{1,3},? ?)+\]")
_INTEGER = re.compile(r"-?(?:0x[0-9a-fA-F]{1,16}|0b[01]{1,64}|\d{1,20})")
_FLOAT = re.compile(r"-?(?:\d{1,40}\.\d{0,40}|\.\d{1,40})(?:[eE][-+]?\d{1,3})?|-?\d{1,40}[eE][-+]?\d{1,3}")
_NAMED = {
    "vcc": (VCC, 2),
    "vcc_lo": (VCC, 1),
    "vcc_hi": (VCC + 1, 1),
    "exec": (EXEC, 2),
    "exec_lo": (EXEC, 1),
    "exec_hi": (EXEC + 1, 1),
    "flat_scratch": (FLAT_SCRATCH, 2),
    "flat_scratch_lo": (FLAT_SCRATCH, 1),
    "flat_scratch_hi": (FLAT_SCRATCH + 1, 1),
    "xnack_mask": (XNACK_MASK, 2),
    "xnack_mask_lo": (XNACK_MASK, 1),
    "xnack_mask_hi": (XNACK_MASK + 1, 1),
    "m0": (M0, 1),
    "scc": (SCC, 1),
    "src_scc": (SCC, 1),
}
_APERTURES = {
    "shared_base": LDS_BASE,
    "private_base": PRIVATE_BASE,
    "shared_limit": LDS_BASE | 0xFFFFFFFF,
    "private_limit": PRIVATE_BASE | 0xFFFFFFFF,
}
_INVERSE_TWO_PI = {16: 0x3118, 32: 0x3E22F983, 64: 0x3FC45F306DC9C882}
_INLINE_FLOATS = {0.0, 0.5, 1.0, 2.0, 4.0, -0.5, -1.0, -2.0, -4.0}
_WORD_OF_BITS = OperandType("b", 32)  # v_cndmask_b32 changes signs of floats
_WORD, _DOUBLE_WORD = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def is_number(token: str) -> bool:
    """Tell whether a token is an integer or a float in decimal, hexadecimal or binary."""
    return bool(_INTEGER.fullmatch(token) or _FLOAT.fullmatch(token))


def integer(token: str) -> int:
    """Read an integer's text; UnreadableListing when it is none."""
    if not _INTEGER.fullmatch(token):
        raise UnreadableListing("this is no integer", token[:80])
    sign, digits = (-1, token[1:]) if token[0] == "-" else (1, token)
    if digits[:2] in ("0x", "0b"):
        return sign * int(digits, 0)
    return sign * int(digits, 8 if digits[0] == "0" and digits.strip("01234567") == "" else 10)


@lru_cache(65536)
def register(token: str) -> tuple[str, int, int] | None:
    """Read a register's file (v, s or a), index and number of 32-bit registers; None where it is no register's name."""
    if token in _NAMED:
        return "s", *_NAMED[token]
    match = _REGISTER.fullmatch(token)
    if match is None:
        return _listed(token) if _LIST.fullmatch(token) else None
    file, first = match[1], int(match[2] or match[3])
    last = int(match[4]) if match[4] else first
    limit = {"s": LAST_SCALAR, "ttmp": 15}.get(file, LAST_VECTOR)
    if last < first or last > limit:
        raise UnreadableListing("there is no such register", token)
    base = {"a": ACCUMULATION, "ttmp": TRAP_TEMPORARIES}.get(file, 0)
    return "s" if file == "ttmp" else file, base + first, last - first + 1


def _listed(token: str) -> tuple[str, int, int]:
    parts = [register(part.strip()) for part in token[1:-1].split(",")]
    registers = [part for part in parts if part]
    successive = [(registers[0][0], registers[0][1] + i, 1) for i in range(len(parts))] if registers else []
    if len(registers) != len(parts) or registers != successive:
        raise UnreadableListing("these registers do not follow each other", token)
    return registers[0][0], registers[0][1], len(registers)


@lru_cache(65536)
def encode(token: str, type_: OperandType, dwords: int, files: str) -> bytes:
    """Encode an operand in 16 bytes; UnreadableListing where the instruction cannot take it."""
    token, modifiers = _modified(token)
    if modifiers & (Modifier.NEGATE | Modifier.ABSOLUTE) and not (type_.is_float or type_ == _WORD_OF_BITS):
        raise UnreadableListing("this operand has no sign to change", token)
    is_literal = "c" not in files
    if token.startswith("lit(") and token.endswith(")"):
        token, is_literal = token[4:-1], True
    if span := register(token):
        file, index, count = span
        if count != dwords:
            raise UnreadableListing(f"this operand spans {count} registers instead of {dwords}", token)
        if file not in files:
            raise UnreadableListing("this instruction cannot take a register of this file", token)
        kind = OperandKind.SCALAR if file == "s" else OperandKind.VECTOR
        return OPERAND.pack(kind, dwords, modifiers, 0, index, 0)
    if not ("c" in files or "k" in files):
        raise UnreadableListing("this operand must be a register", token[:80])
    return OPERAND.pack(OperandKind.CONSTANT, dwords, modifiers, 0, 0, constant(token, type_, is_literal))


def _modified(token: str) -> tuple[str, int]:
    """Strip neg, abs and sext from an operand; return it bare, with its modifiers."""
    modifiers = 0
    if token[:1] == "-" and not token[1:2].isdigit() and token[1:2] != ".":
        token, modifiers = token[1:], Modifier.NEGATE
    for opening, closing, modifier in (
        ("neg(", ")", Modifier.NEGATE),
        ("|", "|", Modifier.ABSOLUTE),
        ("abs(", ")", Modifier.ABSOLUTE),
        ("sext(", ")", Modifier.SIGN_EXTEND),
    ):
        if token.startswith(opening) and token.endswith(closing) and len(token) > len(opening) + 1:
            token, modifiers = token[len(opening) : -1].strip(), modifiers | modifier
    if not token:
        raise UnreadableListing("there is no operand here", token)
    return token, int(modifiers)


def constant(token: str, type_: OperandType, is_literal: bool = False) -> int:
    """Compute the bits that an instruction reads where this number stands as an operand of this type."""
    if token.removeprefix("src_") in _APERTURES:
        if type_.bits != 64:
            raise UnreadableListing("only a 64-bit operand can be this", token)
        return _APERTURES[token.removeprefix("src_")]
    if _INTEGER.fullmatch(token):
        return _integer_bits(token, integer(token), type_, is_literal)
    if _FLOAT.fullmatch(token):
        return _float_bits(token, float(token), type_)
    raise UnreadableListing("this operand is not known", token[:80])


def _integer_bits(token: str, value: int, type_: OperandType, is_literal: bool) -> int:
    if not -(1 << 63) <= value <= _DOUBLE_WORD:
        raise UnreadableListing("this number has more than 64 bits", token)
    if type_.bits == 64:
        signed = value - (1 << 64) if value > _DOUBLE_WORD >> 1 else value
        if -16 <= signed <= 64 and not is_literal:
            return signed & _DOUBLE_WORD
        if not -(1 << 31) <= signed <= _WORD:
            raise UnreadableListing("a literal has 32 bits", token)
        word = signed & _WORD
        if type_.is_float:
            return word << 32
        return (word | 0xFFFFFFFF00000000) if type_.element == "i" and word >> 31 else word
    if value >= 1 << 63:
        value -= 1 << 64
    if not -(1 << 31) <= value <= _WORD:
        raise UnreadableListing("this number has more than 32 bits", token)
    if type_.bits == 16 and type_.count == 1:
        return value & 0xFFFF
    if type_.is_packed and type_.bits == 32 and -16 <= value < 0:
        return value & _DOUBLE_WORD
    return value & _WORD


def _float_bits(token: str, value: float, type_: OperandType) -> int:
    bits = 16 if type_.bits == 16 and (type_.is_float or type_.count == 1) else max(32, type_.bits)
    if value == float("inf"):
        raise UnreadableListing("this number is too large", token)
    if token.lstrip("-").startswith("0.15915494") and value > 0:
        return _INVERSE_TWO_PI[bits]
    try:
        if bits == 16:
            return int.from_bytes(struct.pack("<e", value), "little")
        if bits == 32:
            return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        raise UnreadableListing("this number is too large for its type", token) from None
    double_bits = int.from_bytes(struct.pack("<d", value), "little")
    if value in _INLINE_FLOATS:
        return double_bits
    if not type_.is_float:
        raise UnreadableListing("this operand takes no such float", token)
    return double_bits & 0xFFFFFFFF00000000  # a literal has the upper half only
