"""Types of kernels' parameters by the words of a demangled name: what tasks call them, pointers, constness."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

DTYPES: Mapping[str, str] = {
    **{"float": "f32", "double": "f64", "bool": "bool"},
    **{"__half": "f16", "half": "f16", "_Float16": "f16", "__half_raw": "f16", "__half2": "f16", "half2": "f16"},
    **{"hip_bfloat16": "bf16", "__hip_bfloat16": "bf16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16"},
    **{"__hip_bfloat162": "bf16", "__nv_bfloat162": "bf16"},
    **{"char": "i8", "signed char": "i8", "unsigned char": "u8", "int8_t": "i8", "uint8_t": "u8", "uchar": "u8"},
    **{"short": "i16", "unsigned short": "u16", "int16_t": "i16", "uint16_t": "u16", "ushort": "u16"},
    **{"int": "i32", "unsigned": "u32", "unsigned int": "u32", "int32_t": "i32", "uint32_t": "u32", "uint": "u32"},
    **{"long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64", "size_t": "u64"},
    **{"int64_t": "i64", "uint64_t": "u64", "ptrdiff_t": "i64", "ssize_t": "i64", "long int": "i64"},
}
OF_TASKS: Mapping[str, str] = {"u16": "i16", "u32": "i32", "u64": "i64"}  # types of tensors that tasks have for others
OF_LISTING: Mapping[str, str] = {
    **{"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16"},
    **{"i1": "bool", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64"},
}
BYTES: Mapping[str, int] = {
    **{"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1},
    **{"u64": 8, "u32": 4, "u16": 2, "u8": 1, "bool": 1},
}
VECTOR = re.compile(
    r"HIP_vector_type<([\w ]+), [1234]u?>|(float|double|int|uint|char|uchar|short|ushort|long|ulong)[1234]"
)
_NUMBER = re.compile(r"\b(\d+)(?:u?l{0,2})\b")


@dataclass(frozen=True)
class ParameterType:
    """The type of one parameter: of what it points to, or its own; empty where no task has it."""

    dtype: str
    is_pointer: bool
    is_constant: bool  # what it points to cannot be written through it
    words: str


@dataclass(frozen=True)
class KernelType:
    """A kernel as a launch plan names it, and its parameters."""

    name: str
    parameters: tuple[ParameterType, ...] | None  # None where the symbol does not say them


def kernel_type(demangled: str) -> KernelType:
    """Read a demangled name: `void blend<128>(float const*, int)`."""
    text = demangled.replace("(anonymous namespace)::", "")
    if not text.endswith(")"):
        return KernelType(text, None)
    opening = _opening(text)
    name = text[:opening]
    if "<" in name and " " in name.split("<")[0]:
        name = name.split(" ", 1)[1]
    name = re.sub(r"HIP_vector_type<(\w[\w ]*), (\d)u?>", lambda m: _vector(m[1]) + m[2], name)
    parts = [p for p in split_at_commas(text[opening + 1 : -1]) if p != "void"]
    return KernelType(_NUMBER.sub(r"\1", name), tuple(parameter_type(p) for p in parts))


def _vector(base: str) -> str:
    words = {"unsigned int": "uint", "unsigned char": "uchar", "unsigned short": "ushort", "unsigned long": "ulong"}
    return words.get(base, base.replace(" ", ""))


def _opening(text: str) -> int:
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth == 0:
            return index
    return 0


def split_at_commas(text: str) -> list[str]:
    """Take a list apart at the commas that stand in no brackets."""
    parts, depth, cursor = list[str](), 0, 0
    for index, sign in enumerate(text):
        depth += (sign in "(<[{") - (sign in ")>]}")
        if sign == "," and depth == 0:
            parts.append(text[cursor:index].strip())
            cursor = index + 1
    return [p for p in [*parts, text[cursor:].strip()] if p]


def parameter_type(words: str) -> ParameterType:
    """Read one parameter's type, as C++ or as a demangled name writes it."""
    plain = re.sub(r"\b(?:volatile|__restrict__|__restrict|restrict|struct|typename|std::|__1::)", " ", words)
    head, star, tail = plain.partition("*")
    is_pointer = bool(star) or "[" in plain
    pointee = re.sub(r"\bconst\b|&|\[.*", " ", head)
    dtype = "" if "*" in tail else dtype_of(" ".join(pointee.split()))
    return ParameterType(dtype, is_pointer, "const" in head.split(), " ".join(pointee.split()))


def dtype_of(words: str) -> str:
    """Name a type as plans do; empty for one that they have not."""
    if match := VECTOR.fullmatch(words):
        return DTYPES.get(match[1] or match[2], "")
    return DTYPES.get(words, "")
