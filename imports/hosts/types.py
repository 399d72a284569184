"""Types of C++ by their words: sizes, the names that tasks have for them, pointers and their constness."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

QUALIFIERS = frozenset(
    {
        *("const", "constexpr", "static", "volatile", "inline", "register", "typename", "struct", "extern", "mutable"),
        *("__restrict__", "__restrict", "restrict", "thread_local", "class", "__device__", "__host__", "consteval"),
    }
)
SIGNS = frozenset({"unsigned", "signed", "long", "short", "int", "char", "double"})
DTYPES: Mapping[str, str] = {
    "float": "f32",
    "double": "f64",
    "__half": "f16",
    "half": "f16",
    "_Float16": "f16",
    "__half_raw": "f16",
    "hip_bfloat16": "bf16",
    "__hip_bfloat16": "bf16",
    "__nv_bfloat16": "bf16",
    "nv_bfloat16": "bf16",
    "bool": "bool",
    "char": "i8",
    "signed char": "i8",
    "unsigned char": "u8",
    "short": "i16",
    "unsigned short": "u16",
    "int": "i32",
    "unsigned": "u32",
    "long": "i64",
    "unsigned long": "u64",
    "int8_t": "i8",
    "uint8_t": "u8",
    "uchar": "u8",
    "int16_t": "i16",
    "uint16_t": "u16",
    "ushort": "u16",
    "int32_t": "i32",
    "uint32_t": "u32",
    "uint": "u32",
    "int64_t": "i64",
    "uint64_t": "u64",
    "size_t": "u64",
    "ptrdiff_t": "i64",
    "ssize_t": "i64",
}
OF_TASKS: Mapping[str, str] = {"u16": "i16", "u32": "i32", "u64": "i64"}  # types of tensors that tasks have for others
VECTOR = re.compile(r"(float|double|int|uint|char|uchar|short|ushort|long|ulong)([1234])")


@dataclass(frozen=True)
class Type:
    """A type: the name of what it points to, how often it points, and whether that is constant."""

    base: str
    stars: int = 0
    is_constant: bool = False
    is_reference: bool = False

    @property
    def dtype(self) -> str:
        """The plan's name of the element; "" where it is none of them."""
        vector = VECTOR.fullmatch(self.base)
        return DTYPES.get(vector[1] if vector else self.base, "")

    @property
    def lanes(self) -> int:
        """Elements of a vector type; 1 for others."""
        vector = VECTOR.fullmatch(self.base)
        return int(vector[2]) if vector else 1

    @property
    def bytes(self) -> int:
        """Bytes of one; 0 where that is not known."""
        if self.stars:
            return 8
        return size_of(self.dtype) * self.lanes

    @property
    def is_whole(self) -> bool:
        """True for whole numbers."""
        return not self.stars and self.lanes == 1 and self.dtype[:1] in ("i", "u")

    @property
    def is_real(self) -> bool:
        """True for floating-point numbers."""
        return (not self.stars and self.lanes == 1 and self.dtype[:1] in ("f",)) or (
            not self.stars and self.dtype == "bf16"
        )


def size_of(dtype: str) -> int:
    """Bytes of one of the plan's types; 0 for none."""
    if dtype == "bool":
        return 1
    digits = re.sub(r"\D", "", dtype)
    return int(digits) // 8 if digits else 0


def type_of(words: Sequence[str], aliases: Mapping[str, Type] | None = None) -> Type:
    """Return the type that these words name; aliases and arguments of templates are in `aliases`."""
    stars, is_reference = words.count("*"), "&" in words or "&&" in words
    before = words[: words.index("*")] if "*" in words else words
    is_constant = "const" in before or "constexpr" in before
    plain = [w for w in before if w not in QUALIFIERS and w not in ("&", "&&")]
    base = " ".join(plain)
    if plain and all(w in SIGNS for w in plain):
        base = _whole(plain)
    base = base.removeprefix(":: ").replace("std :: ", "").replace(" :: ", "::")
    aliased = (aliases or {}).get(base) or (aliases or {}).get(base.rpartition("::")[2])
    if aliased is not None:
        return Type(aliased.base, aliased.stars + stars, is_constant or aliased.is_constant, is_reference)
    return Type(base, stars, is_constant, is_reference)


def _whole(plain: Sequence[str]) -> str:
    if "double" in plain:
        return "double"
    sign = "unsigned " if "unsigned" in plain else ""
    if "char" in plain:
        return f"{sign}char" if sign or "signed" not in plain else "signed char"
    if "short" in plain:
        return f"{sign}short"
    if "long" in plain:
        return f"{sign}long"
    return "unsigned" if sign else "int"
