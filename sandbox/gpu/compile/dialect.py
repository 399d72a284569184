"""The HIP of a candidate for each vendor's compiler: the same file, line for line, and the headers it may include.

For NVIDIA what differs is little, for a kernel without AMD's own builtins: vector types by clang's attribute, `__shfl`
without a mask (32 lanes, all taking part), macros in `#pragma unroll`, which nvcc does not expand, and the headers'
names. AMD's builtins have no CUDA form; a file that uses them fails to compile with the name of the builtin. NVRTC and
hipRTC have no standard headers; the parts of them that device code uses are ours. hipRTC has HIP's own headers built in
and cannot find them by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan

INCLUDE = Path(__file__).parents[2] / "include"
FOLDER = INCLUDE / "cuda"
_STANDARD = ("algorithm", "cfloat", "climits", "cmath", "cstddef", "cstdint", "limits", "type_traits", "utility")
_STANDARD_C = ("float.h", "limits.h", "math.h", "stddef.h", "stdint.h")
_TOOLKIT = ("cooperative_groups.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h", "cuda_pipeline.h", "mma.h")

_HIP = ("-Wno-register",)  # CUDA's files have the word, C++17 has not
_UNROLL = re.compile(r"\bunroll\b")


@dataclass(frozen=True)
class Dialect:
    """The needs of one compiler."""

    headers: dict[str, str]  # names and texts that it is given
    includable: frozenset[str]  # names that a candidate may include
    options: tuple[str, ...]
    rescue: tuple[str, ...] = ()  # options for a second try at functions without __device__, as clang allows them


def translate(source: str) -> str:
    """Put clang's vector typedefs into a form that NVIDIA's compiler knows; lines keep their numbers."""
    if "ext_vector_type" not in source:
        return source
    pieces, copied = list[str](), 0
    for words in _typedefs(scan(source)):
        texts = [token.text for token in words]
        mark = texts.index("ext_vector_type") if "ext_vector_type" in texts else 0
        if mark < 6 or texts[mark - 3 : mark] != ["__attribute__", "(", "("] or texts[-4:] != [")", ")", ")", ";"]:
            continue
        start, end, count = words[0].start, words[-1].end, source[words[mark + 1].end : words[-5].end]
        typedef = f"typedef ks_vector<{' '.join(texts[1 : mark - 4])}, ({count})> {texts[mark - 4]};"
        pieces += [source[copied:start], typedef, "\n" * source.count("\n", start, end)]
        copied = end
    return "".join([*pieces, source[copied:]])


def _unrolled(source: str, has_header: bool) -> str:
    """Replace `#pragma unroll NAME` by a macro of the HIP header, which expands NAME; lines keep their numbers.

    Without that header the pragma stays as it is: a constant's name needs no expansion.
    """
    if not _UNROLL.search(source):
        return source
    pieces, copied = list[str](), 0
    for row in rows(scan(source)):
        if not is_directive(row):
            continue
        texts = [token.text for token in row]
        has_header |= texts[1:2] == ["include"] and texts[-1][1:-1] == "hip/hip_runtime.h"
        if has_header and texts[1:3] == ["pragma", "unroll"] and any(token.kind == "name" for token in row[3:]):
            start, end = row[0].start, row[-1].end
            macro_call = f"KS_UNROLL({' '.join(texts[3:])})"
            pieces += [source[copied:start], macro_call, "\n" * source.count("\n", start, end)]
            copied = end
    return "".join([*pieces, source[copied:]])


def _typedefs(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each typedef, its semicolon included."""
    words = list[Token]()
    for token in tokens:
        if token.kind == "name" and token.text == "typedef":
            words = [token]
        elif words and token.kind != "end":
            words.append(token)
        if words and token.kind == "mark" and token.text == ";":
            yield words
            words = []


def _without_hip(source: str) -> str:
    """Drop the includes of HIP's headers; lines keep their numbers."""
    pieces, copied = list[str](), 0
    for row in rows(scan(source)):
        if is_directive(row) and [t.text for t in row[1:2]] == ["include"] and row[-1].text[1:].startswith("hip/"):
            start, end = row[0].start, row[-1].end
            pieces += [source[copied:start], "\n" * source.count("\n", start, end)]
            copied = end
    return "".join([*pieces, source[copied:]])


def headers() -> dict[str, str]:
    """Include names and texts of the CUDA headers."""
    return _texts(FOLDER, "**/*.h")


def spell(kind: str, source: str, *, has_header: bool = False) -> str:
    """Spell the source as the compiler of this kind (nvrtc, nvcc, hiprtc, hipcc) wants it; lines keep their numbers.

    With `has_header` it is a part of a file, which stands behind the HIP header.
    """
    if kind == "hiprtc":
        return _without_hip(source)
    return source if kind == "hipcc" else _unrolled(translate(source), has_header)


@cache
def dialect_of(kind: str) -> Dialect:
    """Choose headers and options of the compiler of this kind."""
    standard = {name: (INCLUDE / name).read_text(encoding="utf-8") for name in _STANDARD}
    hip = frozenset(_texts(INCLUDE, "hip/*.h")) - {"hip/ks_device.h"}
    if kind == "nvrtc":
        header_texts = {**headers(), **standard, **_texts(INCLUDE / "nvrtc", "*")}
        return Dialect(header_texts, frozenset(header_texts) | frozenset(_TOOLKIT), (), ("-default-device",))
    if kind == "nvcc":
        includable = frozenset((*headers(), *_STANDARD, *_STANDARD_C, *_TOOLKIT))
        return Dialect(headers(), includable, ("--expt-relaxed-constexpr",))
    if kind == "hiprtc":
        added = {name: standard[name] for name in ("algorithm", "limits", "type_traits", "utility")}
        built_in = dict.fromkeys((*set(_STANDARD) - set(added), *_STANDARD_C), "// hipRTC has these names built in\n")
        return Dialect({**built_in, **added}, hip | frozenset((*built_in, *added)), _HIP)
    return Dialect({}, hip | frozenset((*_STANDARD, *_STANDARD_C, "rocwmma/rocwmma.hpp")), _HIP)


def _texts(folder: Path, pattern: str) -> dict[str, str]:
    files: Sequence[Path] = sorted(p for p in folder.glob(pattern) if p.is_file())
    return {str(p.relative_to(folder)): p.read_text(encoding="utf-8") for p in files}
