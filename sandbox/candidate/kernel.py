"""A compiled kernel as its image describes it, in the same terms for every vendor."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class KernelArgument:
    """One explicit argument as the driver sees it; `buffer` is true for pointers."""

    buffer: bool
    offset: int
    size: int


@dataclass(frozen=True)
class KernelMetadata:
    """Facts that a compiled image states about one kernel."""

    name: str  # as written in the source, without parameters
    symbol: str  # as in the symbol table, possibly mangled
    args: tuple[KernelArgument, ...]
    vgpr: int  # all vector registers of a lane, accumulation registers included, as the hardware allocates them
    agpr: int
    sgpr: int
    lds_bytes: int  # static
    scratch_bytes: int  # per work-item
    max_block: int  # largest block the kernel was compiled for: __launch_bounds__, else 1024
    spilled_vgpr: int = 0
    spilled_sgpr: int = 0
    instructions: Mapping[str, int] = field(default_factory=dict)  # static count by class
    max_grid: tuple[int, int, int] = (0, 0, 0)  # most workgroups by axis that the code is right for; 0: any number


def most_workgroups(entry: Mapping[str, Any]) -> tuple[int, int, int]:
    """Read the most workgroups by axis that AMD's metadata promises the compiler; 0 where it promises none."""
    x, y, z = (int(entry.get(f".max_num_workgroups_{axis}", 0)) for axis in "xyz")
    return x, y, z


def source_name_of(symbol: str) -> str:
    """Read the plain name of a mangled function: `_Z3addPf` and `_ZN1n3addEPf` are both `add`."""
    text = symbol.removeprefix("_Z")
    if text == symbol:
        return symbol
    text, name = text.removeprefix("N"), symbol
    while match := re.match(r"L?(\d+)", text):
        length = int(match[1])
        name, text = text[match.end() : match.end() + length], text[match.end() + length :]
        if not symbol.startswith("_ZN"):
            break
    return name
