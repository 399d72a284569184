"""The strategy code of a source: a fixed grid of static features, coarse ones first, without any training.

    B256-L2-Mmfma_f32_16x16x32_fp8_fp8-K0-V16-S1-W1-U1
    block class, LDS buffers (0 none, 1 single, 2 double), matrix instruction, split over blocks (atomics or several
    launches), widest access in bytes, swizzle or padding, wave collectives, unrolling.

Renaming, comments, spacing and the order of launches' arguments do not change it. It serves novelty and the report.
"""

from __future__ import annotations

import re

from agents.source import KernelFile, SourceError, read
from records.errors import PlanError
from tasks.expressions import evaluate

UNKNOWN = "?"
_MFMA = re.compile(r"__builtin_amdgcn_(?:mfma|smfmac)_\w+")
_SWIZZLE = re.compile(r"\^|__shared__[^;]*\+|xcd_block")
_WAVE = re.compile(r"__shfl|__ballot|dpp|ds_bpermute|__reduce")
_WIDE = {
    16: r"\b(?:u?int4|float4|double2|dwordx4|ulonglong2)\b",
    8: r"\b(?:u?int2|float2|double|long\s+long|dwordx2)\b",
}


def strategy(source: str) -> str:
    """The code of a candidate's file; `?` when it has no readable plan."""
    try:
        file = read(source)
    except SourceError:
        return UNKNOWN
    code = file.code[file.plan_span[1] :]
    features = {
        "L": _buffers(code),
        "M": _matrix(code),
        "K": _split(file, code),
        "V": _width(code),
        "S": int(bool(_SWIZZLE.search(code))),
        "W": int(bool(_WAVE.search(code))),
        "U": int("#pragma unroll" in code),
    }
    return "-".join([_block(file), *(f"{name}{value}" for name, value in features.items())])


def _block(file: KernelFile) -> str:
    """Work-items of the largest block, rounded up to a power of two."""
    names = {n: v[0] for n, v in file.tunables.items() if isinstance(v[0], int)}
    largest = 0
    for launch in file.plan["launch"]:
        threads = 1
        try:
            for part in launch.get("block", []):
                threads *= evaluate(str(part), names)
        except PlanError:
            return "B?"
        largest = max(largest, threads)
    return f"B{1 << max(0, largest - 1).bit_length()}"


def _buffers(code: str) -> int:
    arrays = re.findall(r"__shared__[^;]*;", code)
    if not arrays:
        return 0
    return 2 if any(re.search(r"\[\s*2\s*\]\s*\[", a) for a in arrays) or re.search(r"\^=\s*1\b", code) else 1


def _matrix(code: str) -> str:
    shapes = sorted({re.sub(r"^.*?(mfma|smfmac)_", "", m.group()) for m in _MFMA.finditer(code)})
    return shapes[0] if shapes else ("wmma" if "wmma" in code else "0")


def _split(file: KernelFile, code: str) -> int:
    return int(len(file.plan["launch"]) > 1 or "atomicAdd" in code or "unsafeAtomicAdd" in code)


def _width(code: str) -> int:
    vectors = [int(n) for n in re.findall(r"ext_vector_type\s*\(\s*(\d+)\s*\)", code)]
    for width, pattern in _WIDE.items():
        if re.search(pattern, code):
            return width
    return 16 if any(n in (4, 8, 16) for n in vectors) else 8 if vectors else 4
