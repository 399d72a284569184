"""The inner loop of a kernel, from its listing: waits, accesses and matrix instructions in order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from records.machine_code import InnerLoop, MachineLine
from sandbox.amdgcn.annotation import Instruction, annotate
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.diagnostics import SOURCE
from sandbox.candidate.prepare import Prepared

_SHOWN = frozenset({"mfma", "lds", "vmem", "smem", "scratch", "waitcnt", "barrier", "branch"})
_UNSHOWN = {"alu": "valu and salu", "loop": "instructions of an inner loop"}
LEAST_SHARE = 4  # a loop must hold one of so many accesses and matrix instructions to be shown alone
_HEAVY = frozenset({"lds", "vmem", "scratch"})


class Disassembler:
    """Shows the loops of candidates; a candidate that was judged is in the compiler's cache."""

    def __init__(self, compiler: Compiler) -> None:
        """`compiler` confines what it runs, as everywhere."""
        self._compiler = compiler

    def loops(self, prepared: Prepared) -> tuple[InnerLoop, ...]:
        """Find one loop a kernel, in the order of the listing; none where the candidate does not compile."""
        compilation = self._compiler.compile(prepared.candidate, prepared.tunables)
        if not compilation.ok:
            return ()
        names = {kernel.symbol: kernel.name for kernel in compilation.kernels}
        rows = annotate(compilation.listing, SOURCE)
        return tuple(inner_loop(names[symbol], rows[symbol]) for symbol in rows if symbol in names)


def inner_loop(kernel: str, rows: Sequence[Instruction]) -> InnerLoop:
    """Choose the loop with the most matrix instructions, else the innermost with the most accesses, then instructions.

    Of loops that hold the same matrix instructions the inner one; loops inside it are counted, not shown. The whole
    kernel where no loop holds a quarter of the accesses and matrix instructions.
    """
    loops = [loop for depth in range(1, max((r.depth for r in rows), default=0) + 1) for loop in _loops(rows, depth)]
    chosen = max(loops, key=_weight, default=list(rows))
    if LEAST_SHARE * _work(chosen) < _work(rows):  # its loops were unrolled
        chosen = list(rows)
    depth = None if len(chosen) == len(rows) else min(row.depth for row in chosen)
    return InnerLoop(kernel, depth or 0, len(chosen), len(rows), tuple(_merged(chosen, depth)))


def _work(rows: Sequence[Instruction]) -> int:
    return sum(row.group in _HEAVY or row.group == "mfma" for row in rows)


def _loops(rows: Sequence[Instruction], depth: int) -> list[list[Instruction]]:
    """Split off runs of instructions with so many loops around them or more."""
    return [list(run) for is_in, run in groupby(rows, key=lambda row: row.depth >= depth) if is_in]


def _weight(run: Sequence[Instruction]) -> tuple[int, int, int, int]:
    """Weigh matrix instructions first; of loops without them only innermost ones count."""
    matrix, depth = sum(row.group == "mfma" for row in run), min(row.depth for row in run)
    is_inner = all(row.depth == depth for row in run)
    heavy = sum(row.group in _HEAVY for row in run)
    return (matrix, depth, heavy, len(run)) if matrix else (0, int(is_inner), heavy, len(run))


def _merged(rows: Sequence[Instruction], depth: int | None) -> list[MachineLine]:
    """Merge neighbours of one mnemonic into one line, and so arithmetic and inner loops, which are not shown."""
    lines = []
    for (group, mnemonic), alike in groupby(rows, key=lambda row: _kind(row, depth)):
        same = list(alike)
        text = _UNSHOWN.get(group) or (same[0].text if len(same) == 1 else mnemonic)
        lines.append(MachineLine(text, group, same[0].line, len(same)))
    return lines


def _kind(row: Instruction, depth: int | None) -> tuple[str, str]:
    if depth is not None and row.depth > depth:
        return "loop", ""
    is_shown = row.group in _SHOWN
    return (row.group, row.text.split(" ", 1)[0]) if is_shown else ("alu", "")
