"""Machine code as a writer of kernels looks at it: one loop, its instructions in order, equal ones counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MachineLine:
    """Instructions in a row that are alike: a wait, an access or a matrix instruction; arithmetic is one group."""

    text: str  # mnemonic and operands; the mnemonic alone where there are several
    group: str  # issue class: mfma, lds, vmem, waitcnt, ..., loop for one inside, alu for the rest
    line: int  # of the source; 0 where the compiler names none
    count: int = 1


@dataclass(frozen=True)
class InnerLoop:
    """The loop of a kernel that weighs most; the whole kernel where it has no loop."""

    kernel: str
    depth: int  # loops around an instruction of it; 0 for a kernel without a loop
    instructions: int  # in the loop
    total: int  # in the kernel
    lines: tuple[MachineLine, ...]
