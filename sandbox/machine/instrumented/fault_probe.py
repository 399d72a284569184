"""Probes of an instrumented listing: what a store to the probe page says.

A probe is one instruction of the listing, `global_store_dwordx2 v[a:b], v[c:d], off`, that is reached only by lanes at
fault: EXEC says which. Its address is `PAGE + 8 * number` in every lane, its data a number of 64 bits: the index, the
amount of a shift, an address. It is no access to memory: nothing is written, no wait counter moves. Its line is that
of its `.loc`, as for every other instruction; the probe has the kind and what the line does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass

PAGE = 0x6 << 48  # guest address of the first probe
STRIDE = 8  # bytes from one probe to the next


@dataclass(frozen=True)
class FaultProbe:
    """One place of the source that is tried, with the fault that it shows.

    `limit` is what the value is held to: the number of elements (out_of_bounds), the bits of the shifted value (shift),
    the bytes of the alignment (misaligned), 0 elsewhere. `name` is the array's name where one is known.
    """

    # A finding's kind: out_of_bounds, division_by_zero, shift, misaligned, wave_mask, divergent_collective, trap.
    kind: str
    line: int = 0  # of the candidate; 0 where the code stands in a header
    column: int = 0
    limit: int = 0
    name: str = ""
    space: str = ""  # of an array: lds, file (a variable of the file), or the work-item's own
    # overflow, copy, assume, unreachable, zeros, mask, object, vector; returned: a reference, and the caller at fault.
    detail: str = ""


def address_of(number: int) -> int:
    """Compute the guest address at which the probe with this number stores."""
    return PAGE + STRIDE * number
