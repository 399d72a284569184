"""Sentences on faults of the source itself: what C++ leaves undefined, and what a kernel may not ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.lab.scene import Scene, who


def of_stack(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say that private memory is too small."""
    return f"{who(row)} needs more than 256 KiB of private memory; use smaller local arrays and no recursion"


def of_division(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say that an integer is divided by zero."""
    return f"{who(row)} divides an integer by zero (or the smallest integer by -1)"


def of_trap(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say which promise is broken, or that a trap was met."""
    if row["detail"]:
        return (
            f"{who(row)} breaks a promise of the source to the compiler, which may do anything then: __builtin_assume "
            "of what is not so, __builtin_unreachable that is reached, __builtin_clz or __builtin_ctz of zero, or a "
            "function that ends without its return or despite being noreturn"
        )
    return f"{who(row)} executed a trap (a failed assert, or code the compiler proved unreachable)"


def of_kept_state(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say that a call depends on the one before."""
    return (
        "the kernel keeps state between calls: this reads a __device__ variable that the call has not written yet, and "
        "the call leaves another value there; set the variable at the start of each call, or back at its end"
    )


def of_shift(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say by how much is shifted."""
    by, bits = int(row["detail"]), int(row["size"])
    by -= 1 << 32 if 1 << 31 <= by < 1 << 32 else 0
    return (
        f"{who(row)} shifts a value of {bits} bits by {by}, which has no defined result; mask the amount, or treat "
        "that case apart"
    )


def of_probe(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say that the behaviour is undefined."""
    return f"{who(row)} does what C++ leaves undefined"


def of_illegal(scene: Scene, row: Mapping[str, Any]) -> str:
    """Say that an instruction is refused."""
    return (
        f"{who(row)} executes an instruction, or a form of one, that a compute kernel of gfx942 cannot use; check the "
        "modifiers of a builtin and the fields of a buffer's descriptor"
    )
