"""Modifiers, which stand behind the operands: DPP and SDWA, op_sel, memory offsets and scopes, matrix broadcasts.

Codes of DPP, of hardware registers and of messages are those of AMD's CDNA3 instruction set, 12.7, 3.6 and 4.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from sandbox.machine.image_layout import Flag
from sandbox.machine.operands import integer
from sandbox.machine.unreadable import UnreadableListing

Settings = dict[str, int | tuple[int, ...]]
_WORDS = re.compile(r"[\s,]+(?![^\[\(]*[\]\)])")
_FLAGS = {
    "clamp": Flag.CLAMP,
    "sc0": Flag.SC0,
    "glc": Flag.SC0,
    "sc1": Flag.SC1,
    "nt": Flag.NON_TEMPORAL,
    "offen": Flag.OFFSET_ENABLED,
    "idxen": Flag.INDEX_ENABLED,
    "lds": Flag.TO_LDS,
    "gds": Flag.GDS,
}
_FIXED_DPP = {"row_mirror": 0x140, "row_half_mirror": 0x141}
_SHIFTED_DPP = {"row_shl": 0x100, "row_shr": 0x110, "row_ror": 0x120, "row_newbcast": 0x150}
_WAVE_DPP = {"wave_shl": 0x130, "wave_rol": 0x134, "wave_shr": 0x138, "wave_ror": 0x13C}
_BROADCAST_DPP = {15: 0x142, 31: 0x143}
_SELECTS = {name: i for i, name in enumerate(("DWORD", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1"))}
_UNUSED = {"UNUSED_PAD": 0, "UNUSED_SEXT": Flag.SIGN_EXTENDS_UNUSED, "UNUSED_PRESERVE": Flag.PRESERVES_UNUSED}
_LISTS = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi", "neg")
_DATA_FORMATS: tuple[str, ...] = (
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
)
_DATA_FORMATS += ("8_8_8_8", "32_32", "16_16_16_16", "32_32_32", "32_32_32_32")
_NUMBER_FORMATS = ("UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT")
_FORMATS = {f"BUF_DATA_FORMAT_{name}": i for i, name in enumerate(_DATA_FORMATS)}
_FORMATS |= {f"BUF_NUM_FORMAT_{name}": i << 4 for i, name in enumerate(_NUMBER_FORMATS)}
_OUTPUT = {"mul:2": 1, "mul:4": 2, "div:2": 3}


@lru_cache(65536)
def read_modifiers(text: str) -> Settings:
    """Read a line's modifiers, with their flags under "flags"; UnreadableListing names an unknown one."""
    settings: Settings = {}
    flags = 0
    for word in _WORDS.split(text):
        key, _, value = word.partition(":")
        if word in _FLAGS:
            flags |= _FLAGS[word]
        elif word in _OUTPUT:
            settings["omod"] = _OUTPUT[word]
        elif key == "dst_unused" and value in _UNUSED:
            settings["unused"] = int(_UNUSED[value])
        elif reader := _READERS.get(key):
            reader(settings, key, value, word)
        elif word:
            raise UnreadableListing("this modifier is not known", word[:80])
    settings["flags"] = int(flags)
    return settings


def _dpp(settings: Settings, key: str, value: str, word: str) -> None:
    if word in _FIXED_DPP:
        settings["dpp"] = _FIXED_DPP[word]
    elif key == "quad_perm":
        lanes = _numbers(value, word)
        if len(lanes) != 4 or max(lanes) > 3:
            raise UnreadableListing("this is no permutation of four lanes", word)
        settings["dpp"] = sum(lane << 2 * i for i, lane in enumerate(lanes))
    elif key == "row_bcast" and value in ("15", "31"):
        settings["dpp"] = _BROADCAST_DPP[int(value)]
    elif key in _WAVE_DPP and value == "1":
        settings["dpp"] = _WAVE_DPP[key]
    elif key in _SHIFTED_DPP and (_limited(value, 15, word) or key == "row_newbcast"):
        settings["dpp"] = _SHIFTED_DPP[key] + integer(value)
    else:
        raise UnreadableListing("this DPP control is not known", word[:80])


def _masks(settings: Settings, key: str, value: str, word: str) -> None:
    settings[key] = _limited(value, 15, word)


def _bound(settings: Settings, key: str, value: str, word: str) -> None:
    _limited(value, 1, word)
    settings[key] = 1  # LLVM writes 0 or 1 for the bit set, and nothing for the bit clear


def _select(settings: Settings, key: str, value: str, word: str) -> None:
    if value not in _SELECTS:
        raise UnreadableListing("this SDWA selection is not known", word[:80])
    settings[key] = _SELECTS[value]


def _list(settings: Settings, key: str, value: str, word: str) -> None:
    bits = _numbers(value, word)
    if len(bits) > 4 or max(bits) > 1:
        raise UnreadableListing("this list holds up to four bits", word)
    settings[key] = bits


def _offset(settings: Settings, key: str, value: str, word: str) -> None:
    settings[key] = _swizzle(value, word) if value.startswith("swizzle(") else integer(value)
    if not -(1 << 21) <= int(str(settings[key])) < 1 << 21:
        raise UnreadableListing("this offset is out of range", word)


def _small(settings: Settings, key: str, value: str, word: str) -> None:
    settings[key] = _limited(value, {"abid": 15}.get(key, 7), word)


def _format(settings: Settings, key: str, value: str, word: str) -> None:
    """Read the format of a typed buffer access: 4 bits of the data's, then 3 of the number's."""
    if key != "format" or not value.startswith("["):
        settings[key] = _limited(value, {"format": 127, "dfmt": 15, "nfmt": 7}[key], word)
        return
    names = [name.strip() for name in value[1:-1].split(",")]
    if not value.endswith("]") or not all(name in _FORMATS for name in names) or len(names) > 2:
        raise UnreadableListing("this format is not known", word[:80])
    has_data = any("_DATA_" in name for name in names)
    settings[key] = sum(_FORMATS[name] for name in names) + (0 if has_data else _FORMATS["BUF_DATA_FORMAT_8"])


def _swizzle(value: str, word: str) -> int:
    """Encode a ds_swizzle in 16 bits; a listing does not say which lanes a rotation leaves out by its mask."""
    name, *arguments = [part.strip() for part in value[8:].rstrip(")").split(",")]
    if name == "BITMASK_PERM" and len(arguments) == 1 and re.fullmatch(r'"[01ip]{5}"', arguments[0]):
        masks = [(c in "ip", c == "1", c == "i") for c in arguments[0][1:-1]]  # and, or, xor of a bit
        return sum(int(bit) << 5 * k + 4 - i for i, row in enumerate(masks) for k, bit in enumerate(row))
    numbers = [integer(part) for part in arguments]
    if name == "QUAD_PERM" and len(numbers) == 4 and all(0 <= n <= 3 for n in numbers):
        return 0x8000 | sum(n << 2 * i for i, n in enumerate(numbers))
    if name == "BROADCAST" and len(numbers) == 2 and numbers[0] in (2, 4, 8, 16, 32) and 0 <= numbers[1] < numbers[0]:
        return (32 - numbers[0]) | numbers[1] << 5
    if name == "SWAP" and numbers in ([1], [2], [4], [8], [16]):
        return 0x1F | numbers[0] << 10
    if name == "REVERSE" and numbers in ([2], [4], [8], [16], [32]):
        return 0x1F | (numbers[0] - 1) << 10
    if name == "FFT" and len(numbers) == 1 and 0 <= numbers[0] < 32:
        return 0xE000 | numbers[0]
    if name == "ROTATE" and len(numbers) == 2 and numbers[0] in (0, 1) and 0 <= numbers[1] < 32:
        return 0xC000 | numbers[0] << 10 | numbers[1] << 5
    raise UnreadableListing("this swizzle is not known", word[:80])


def _numbers(value: str, word: str) -> tuple[int, ...]:
    if not (value.startswith("[") and value.endswith("]")) or len(value) > 40:
        raise UnreadableListing("a list is expected here", word[:80])
    numbers = tuple(integer(part.strip()) for part in value[1:-1].split(","))
    if min(numbers) < 0:
        raise UnreadableListing("this list holds no negative numbers", word)
    return numbers


def _limited(value: str, limit: int, word: str) -> int:
    number = integer(value)
    if not 0 <= number <= limit:
        raise UnreadableListing(f"this is a number from 0 to {limit}", word)
    return number


_READERS: dict[str, Callable[[Settings, str, str, str], None]] = {
    **dict.fromkeys(("quad_perm", "row_bcast", *_FIXED_DPP, *_SHIFTED_DPP, *_WAVE_DPP), _dpp),
    **dict.fromkeys(("row_mask", "bank_mask"), _masks),
    **dict.fromkeys(("dst_sel", "src0_sel", "src1_sel"), _select),
    **dict.fromkeys(_LISTS, _list),
    **dict.fromkeys(("offset", "offset0", "offset1"), _offset),
    **dict.fromkeys(("cbsz", "abid", "blgp"), _small),
    **dict.fromkeys(("format", "dfmt", "nfmt"), _format),
    "bound_ctrl": _bound,
}
