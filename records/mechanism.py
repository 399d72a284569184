"""The mechanisms by which a change makes a kernel faster, in the field's terms: what hypotheses are compared by."""

from __future__ import annotations

from typing import Literal, get_args

Mechanism = Literal[
    "",  # not said
    "coalescing",
    "vector access",
    "cache reuse",
    "bank conflicts",
    "latency hiding",
    "occupancy",
    "tiling",
    "split work",
    "fusion",
    "matrix cores",
    "instruction choice",
    "fewer operations",
    "synchronisation",
    "atomics",
    "launch",
    "work distribution",
    "specialisation",
]
MECHANISMS: tuple[Mechanism, ...] = tuple(name for name in get_args(Mechanism) if name)


def mechanism_of(text: str) -> Mechanism:
    """Read the mechanism that a planner names, whatever its case and hyphens; none where it is not in the list."""
    words = " ".join(text.lower().replace("-", " ").replace("_", " ").split())
    return next((name for name in MECHANISMS if name == words), "")
