"""The HIP of a candidate for each vendor's compiler: the same file, line for line, and the headers it may include.

For NVIDIA what differs is little, for a kernel without AMD's own builtins: vector types by clang's attribute, `__shfl`
without a mask (32 lanes, all taking part), and the headers' names. AMD's builtins have no CUDA form; a file that uses
them fails to compile with the name of the builtin. NVRTC and hipRTC have no standard headers; the parts of them that
device code uses are ours. hipRTC has HIP's own headers built in and cannot find them by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

INCLUDE = Path(__file__).parents[2] / "include"
FOLDER = INCLUDE / "cuda"
_VECTOR = re.compile(
    r"typedef\s+([A-Za-z_][\w ]{0,80}?)\s+(\w{1,80})\s+"
    r"__attribute__\s*\(\(\s*ext_vector_type\s*\(([^()]*)\)\s*\)\)\s*;"
)
_HIP_INCLUDE = re.compile(r"^([ \t]*)#[ \t]*include[ \t]*[<\"]hip/[\w./]+[>\"]", re.M)
_STANDARD = ("algorithm", "cfloat", "climits", "cmath", "cstddef", "cstdint", "limits", "type_traits", "utility")
_STANDARD_C = ("float.h", "limits.h", "math.h", "stddef.h", "stdint.h")
_TOOLKIT = ("cooperative_groups.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h", "cuda_pipeline.h", "mma.h")


@dataclass(frozen=True)
class Dialect:
    """The needs of one compiler."""

    headers: dict[str, str]  # names and texts that it is given
    known: frozenset[str]  # names that a candidate may include
    options: tuple[str, ...]
    rescue: tuple[str, ...] = ()  # options for a second try at functions without __device__, as clang allows them


def translate(source: str) -> str:
    """The source with clang's vector typedefs in a form that NVIDIA's compiler knows; lines keep their numbers."""
    return _VECTOR.sub(lambda m: f"typedef ks_vector<{m[1]}, ({m[3]})> {m[2]};" + "\n" * m[0].count("\n"), source)


def headers() -> dict[str, str]:
    """Include names and texts of the CUDA headers."""
    return _texts(FOLDER, "**/*.h")


def spell(kind: str, source: str) -> str:
    """The source as the compiler of this kind (nvrtc, nvcc, hiprtc, hipcc) wants it; lines keep their numbers."""
    if kind == "hiprtc":
        return _HIP_INCLUDE.sub(r"\1", source)
    return source if kind == "hipcc" else translate(source)


@cache
def dialect_of(kind: str) -> Dialect:
    """Headers and options of the compiler of this kind."""
    standard = {name: (INCLUDE / name).read_text(encoding="utf-8") for name in _STANDARD}
    hip = frozenset(_texts(INCLUDE, "hip/*.h")) - {"hip/ks_device.h"}
    if kind == "nvrtc":
        given = {**headers(), **standard, **_texts(INCLUDE / "nvrtc", "*")}
        return Dialect(given, frozenset(given) | frozenset(_TOOLKIT), (), ("-default-device",))
    if kind == "nvcc":
        known = frozenset((*headers(), *_STANDARD, *_STANDARD_C, *_TOOLKIT))
        return Dialect(headers(), known, ("--expt-relaxed-constexpr",))
    if kind == "hiprtc":
        own = {name: standard[name] for name in ("algorithm", "limits", "type_traits", "utility")}
        built_in = dict.fromkeys((*set(_STANDARD) - set(own), *_STANDARD_C), "// hipRTC has these names built in\n")
        return Dialect({**built_in, **own}, hip | frozenset((*built_in, *own)), ())
    return Dialect({}, hip | frozenset((*_STANDARD, *_STANDARD_C, "rocwmma/rocwmma.hpp")), ())


def _texts(folder: Path, pattern: str) -> dict[str, str]:
    found: Sequence[Path] = sorted(p for p in folder.glob(pattern) if p.is_file())
    return {str(p.relative_to(folder)): p.read_text(encoding="utf-8") for p in found}
