"""The strategy code of a source: a fixed grid of static features, coarse ones first, without any training.

    B256-L2-Mf32_16x16x32_fp8_fp8-K0-V16-Sp-W1-U1-G1
    block class, LDS buffers (0 none, 1 single, 2 or more), matrix instruction, split over blocks (a atomics, w a
    workspace, l several launches), widest access in bytes, swizzle (x exclusive or, p padded rows, c order of blocks),
    wave collectives, unrolling, blocks that take several tiles in turn (persistence).

Tunables count with the value that the file has first, so that a tuned file has the code of the kernel it gives.

Renaming, comments, spacing and the order of launches' arguments do not change it. It serves novelty and the report.
"""

from __future__ import annotations

import re

from agents.source import KernelFile, SourceError, look
from records.errors import PlanError
from tasks.expressions import evaluate

UNKNOWN = "?"
WIDEST = 16  # bytes of one access; a longer vector is a tile of sums
_MFMA = re.compile(r"__builtin_amdgcn_(?:mfma|smfmac)_\w+")
_PADDED = re.compile(r"__shared__[^;]*\[[^\];]*\+")
_MIXED = re.compile(r"\^(?!=\s*1\b)")  # of an index; `^= 1` turns a buffer over
_ORDER = re.compile(r"xcd_block|\bGROUP\w*\b")
_PERSISTENT = re.compile(r"\+=\s*[^;)]*\bgridDim\b")
_WAVE = re.compile(r"__shfl|__ballot|dpp|ds_bpermute|__reduce")
_VECTOR = re.compile(r"typedef\s+(?:unsigned\s+)?(\w+)\s+\w+\s+__attribute__\s*\(\(\s*ext_vector_type\s*\(([^()]+)\)")
_BYTES = {
    "double": 8,
    "long": 8,
    "half": 2,
    "_Float16": 2,
    "__bf16": 2,
    "short": 2,
    "uint16_t": 2,
    "char": 1,
    "uint8_t": 1,
}
_WIDE = {
    16: r"\b(?:u?int4|float4|double2|dwordx4|ulonglong2)\b",
    8: r"\b(?:u?int2|float2|double|long\s+long|dwordx2)\b",
}


def strategy(source: str) -> str:
    """Return the code of a candidate's file; `?` when it has no readable plan."""
    try:
        file = look(source)
    except SourceError:
        return UNKNOWN
    code = file.code[file.plan_span[1] :]
    features = {
        "L": _buffers(code),
        "M": _matrix(code),
        "K": _split(file, code),
        "V": _width(file, code),
        "S": _swizzle(file, code),
        "W": int(bool(_WAVE.search(code))),
        "U": int("#pragma unroll" in code),
        "G": int(bool(_PERSISTENT.search(code))),
    }
    return "-".join([_block(file), *(f"{name}{value}" for name, value in features.items())])


def _block(file: KernelFile) -> str:
    """Work-items of the largest block, rounded up to a power of two."""
    names, largest = _values(file), 0
    for launch in file.plan["launch"]:
        threads = 1
        try:
            for part in launch.get("block", []):
                threads *= evaluate(str(part), names)
        except PlanError:
            return "B?"
        largest = max(largest, threads)
    return f"B{1 << max(0, largest - 1).bit_length()}"


def _values(file: KernelFile) -> dict[str, int]:
    """Return the tunables with the value that the file has first."""
    return {n: v[0] for n, v in file.tunables.items() if isinstance(v[0], int)}


def _buffers(code: str) -> int:
    arrays = re.findall(r"__shared__[^;]*;", code)
    if not arrays:
        return 0
    counts = [int(n) for a in arrays for n in re.findall(r"\[\s*([2-9])\s*\]\s*\[", a)]
    return max(counts, default=2 if re.search(r"\^=\s*1\b", code) else 1)


def _matrix(code: str) -> str:
    shapes = sorted({re.sub(r"^.*?(mfma|smfmac)_", "", m.group()) for m in _MFMA.finditer(code)})
    return shapes[0] if shapes else ("wmma" if "wmma" in code else "0")


def _split(file: KernelFile, code: str) -> str:
    letters = ["a"] if "atomicAdd" in code or "unsafeAtomicAdd" in code else []
    letters += ["w"] if file.plan.get("workspace") else []
    return "".join([*letters, *(["l"] if _is_repeated(file) else [])]) or "0"


def _is_repeated(file: KernelFile) -> bool:
    """Tell whether the plan has several launches, or one in a loop."""
    launches = file.plan["launch"]
    return len(launches) > 1 or any("for" in launch for launch in launches)


def _swizzle(file: KernelFile, code: str) -> str:
    pads = any("PAD" in name and value for name, value in _values(file).items())
    is_padded = pads or (bool(_PADDED.search(code)) and not any("PAD" in name for name in file.tunables))
    flags = [("x", bool(_MIXED.search(code))), ("p", is_padded), ("c", bool(_ORDER.search(code)))]
    return "".join(letter for letter, is_there in flags if is_there) or "0"


def _width(file: KernelFile, code: str) -> int:
    """Bytes of the widest vector type; its elements may be counted by a tunable."""
    values, widest = _values(file), 4
    for kind, text in _VECTOR.findall(code):
        try:
            widest = max(widest, _BYTES.get(kind, 4) * evaluate(text.replace("/", "//"), values))
        except PlanError:
            continue
    words = (width for width, pattern in _WIDE.items() if re.search(pattern, code))
    return min(WIDEST, max(widest, *words, 4))
