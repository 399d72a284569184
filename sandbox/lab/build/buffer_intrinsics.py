"""LLVM's buffer intrinsics under names of the candidate's own, as libraries for AMD's GPUs declare them.

    __device__ int load(int4 resource, int lanes, int wave, int cache) __asm("llvm.amdgcn.raw.buffer.load.i32");

The GPU's compiler takes such a declaration for the intrinsic. In the lab's build the label names a function of
`ks_lab/buffers.h` instead, which stands behind the candidate's text and is compiled where the label is used. The trees
of both compilers are compared before, with the same label in each.
"""

from __future__ import annotations

import re

_KINDS = "i8|i16|i32|i64|i128|v2i8|v4i8|v2i16|v4i16|v2i32|v4i32|f16|v2f16|v4f16|f32|v2f32|v4f32"
_ATOMICS = r"fadd\.f32|fadd\.v2f16|add\.i32|cmpswap\.i32"
LABEL = re.compile(rf"llvm\.amdgcn\.raw\.buffer\.((?:load|store)\.(?:{_KINDS})|atomic\.(?:{_ATOMICS}))")
_WRITTEN = re.compile(rf'(\b(?:__)?asm(?:__)?\s*\(\s*)"{LABEL.pattern}"(?=\s*\))')
_HEADER = "\n#include <ks_lab/buffers.h>\n"


def with_buffer_intrinsics(text: str) -> str:
    """The candidate's preprocessed text with the lab's functions in place of the intrinsics that it declares."""
    if "llvm.amdgcn.raw.buffer." not in text:
        return text
    named = _WRITTEN.sub(lambda found: f'{found[1]}"ks_buffer_{found[2].replace(".", "_")}"', text)
    return named if named == text else named + _HEADER
