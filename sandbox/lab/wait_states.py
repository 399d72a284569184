"""Sentences of instructions that come too soon: before a load is waited for, or too few wait states behind another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.lab.scene import Scene, candidate_line, who

_NOT_WRITTEN_BACK = 1 << 32
_MOST = 16  # wait states of one s_nop
# In the order of Rule in sandbox/machine/interpreter/wait_states.h.
RULES = (
    "reads, in an access to memory, a scalar register that {first} has written",
    "reads a scalar register that {first} has written",
    "takes the number of its lane from a scalar register that {first} has written",
    "reads VCC, which {first} has written",
    "depends on EXEC, which {first} has written",
    "reads, from other lanes, a register that {first} has written",
    "reads a lane of a register that {first} has written",
    "multiplies by a register that {first} has written",
    "reads the result of {first}",
    "reads the register of which {first} has written a part",
    "uses the result of {first}",
    "uses the result of {first}",
    "overwrites the accumulator that {first} still reads",
    "shares its unit with {first}",
    "overwrites the data that {first} still stores",
    "uses the hardware register that {first} has written",
    "reads M0, which {first} has written",
)


def of_missing_wait(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say that a load or a store was not waited for."""
    line = candidate_line(scene.lines, row["places"][1:])
    location = f" in line {line}" if line else ""
    if row["detail"] == _NOT_WRITTEN_BACK:
        return (
            f"{who(row)} ends while the scalar store{location} is in the scalar cache alone, and is lost there; put "
            "s_dcache_wb before s_endpgm"
        )
    return (
        f"{who(row)} uses a register before the load that fills it{location} is waited for; put an s_waitcnt between "
        "the two"
    )


def of_hazard(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say which instruction stands too close behind which one, and what to put between them."""
    needed, present, rule = row["detail"] & 255, row["detail"] >> 8 & 255, row["detail"] >> 16 & 255
    mnemonic, line = scene.lines.mnemonic(row["places"][0]), candidate_line(scene.lines, row["places"][1:])
    first = scene.lines.mnemonic(row["places"][1]) if len(row["places"]) > 1 else "the instruction before"
    offence = RULES[rule].format(first=f"{first}{f' in line {line}' if line else ''}") if rule < len(RULES) else ""
    missing = max(1, needed - present)
    pauses = [f"s_nop {min(_MOST, missing - k) - 1}" for k in range(0, missing, _MOST)]
    return (
        f"{who(row)}: {mnemonic} {offence}, too soon: gfx942 needs {needed} wait states between the two, and "
        f"{present or 'none'} {'are' if present > 1 else 'is'} there; put {' and '.join(pauses)} before it"
    )
