"""Cost of matrix instructions: `matrix_cores.toml`, looked up by mnemonic."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parent / "matrix_cores.toml"
_PROFILER = {"f64": "F64", "f32": "F32", "xf32": "XF32", "f16": "F16", "bf16": "BF16", "fp8": "F8", "i8": "I8"}


@dataclass(frozen=True)
class MatrixInstruction:
    """One instruction of one wave."""

    name: str
    counter: str  # the suffix of SQ_INSTS_VALU_MFMA_
    clocks: int  # of one SIMD's matrix core
    flops: int  # of a sparse one: as if A held every element


@cache
def _table() -> dict[tuple[str, int, int, int, bool], MatrixInstruction]:
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["instruction"]
    instructions = {}
    for row in rows:
        m, k, blocks = row["shape"]
        instructions[row["type"], m, k, blocks, row.get("sparse", False)] = MatrixInstruction(
            row["name"], _PROFILER[row["type"]], row["clocks"], 2 * m * m * k * blocks
        )
    return instructions


_NAMED = re.compile(r"v_s?mfma?c?_\w+?_(\d+)x\d+x(\d+)(?:_(\d+)b)?_([a-z0-9]+)")


def matrix_named(mnemonic: str) -> MatrixInstruction | None:
    """Find the instruction of a gfx942 mnemonic such as v_mfma_f32_16x16x16_f16; None where it is none of these."""
    match = _NAMED.fullmatch(mnemonic) or _NAMED.match(mnemonic)
    if match is None:
        return None
    kind = match[4].removesuffix("_1k")
    kind = "fp8" if kind in ("bf8", "fp8") else kind
    return _table().get((kind, int(match[1]), int(match[2]), int(match[3] or 1), mnemonic.startswith("v_smfmac")))
