"""The HIP of a candidate as CUDA: the same file, line for line, against the small headers of `include/cuda`.

What differs between the two languages for a kernel without AMD's own builtins is little: vector types by clang's
attribute, `__shfl` without a mask (32 lanes, all taking part), and the header's name. AMD's builtins have no CUDA form;
a file that uses them fails to compile with the name of the builtin.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "include" / "cuda"
_VECTOR = re.compile(
    r"typedef\s+([A-Za-z_][\w ]*?)\s+(\w+)\s+__attribute__\s*\(\(\s*ext_vector_type\s*\(([^()]*)\)\s*\)\)\s*;")


def translate(source: str) -> str:
    """The source with clang's vector typedefs in a form that NVIDIA's compiler knows; lines keep their numbers."""
    return _VECTOR.sub(lambda m: f"typedef ks_vector<{m[1]}, ({m[3]})> {m[2]};" + "\n" * m[0].count("\n"), source)


def headers() -> dict[str, str]:
    """Include names and texts of the CUDA headers."""
    return {str(p.relative_to(FOLDER)): p.read_text(encoding="utf-8") for p in sorted(FOLDER.rglob("*.h"))}
