"""A listing as a program: its image in a file, and what is needed to call it and to read its findings."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from records.computed_once import computed_once
from sandbox.machine.data_comparisons import DataComparison, SoughtComparisons
from sandbox.machine.decoded_program import DecodedProgram, decode_listing
from sandbox.machine.kernarg import KernargLayout, layout_of
from sandbox.machine.places import Place

_FOLDER = Path(__file__).parent
GRID_COUNT = "ks_grid_come"  # of hip_cooperative_groups.h
GRID_REACH = 6  # instructions of a loop before and behind its sleep


@dataclass(frozen=True)
class InstructionLines:
    """Places of a program's instructions in its sources; a position is the number of an instruction plus one."""

    chains: tuple[tuple[Place, ...], ...]
    mnemonics: tuple[str, ...]
    file: str
    grid_waits: frozenset[int] = frozenset()  # positions at which the barrier of our headers waits for the whole grid

    def _chain(self, position: int) -> tuple[Place, ...]:
        return self.chains[position - 1] if 0 < position <= len(self.chains) else ()

    def _lines(self, chain: Sequence[Place]) -> list[int]:
        return [line for name, line in chain if line and name.rpartition("/")[2] == self.file]

    @computed_once
    def _innermost(self) -> tuple[int | None, ...]:
        """Find the line of each instruction, which every record of an execution asks for again."""
        of_chain = {chain: next(iter(self._lines(chain)), None) for chain in set(self.chains)}
        return tuple(of_chain[chain] for chain in self.chains)

    def line(self, position: int) -> int | None:
        """Give the innermost line of the candidate's file that the instruction belongs to, or None."""
        return self._innermost[position - 1] if 0 < position <= len(self.chains) else None

    def caller_line(self, position: int) -> int | None:
        """Give the line of the candidate's file from which the instruction's innermost function there was called."""
        lines = self._lines(self._chain(position))
        return lines[1] if len(lines) > 1 else None

    def line_before(self, position: int, reach: int = 64) -> int | None:
        """Give the last line of its function at or before the instruction, at most `reach` back; else any line there.

        What the compiler merges from two lines has none.
        """
        depth, numbers = max(1, len(self._chain(position))), range(position, max(0, position - reach), -1)
        outer = self._chain(position)[1:]
        chains = [self._chain(number)[-depth:] for number in numbers]
        of_function = [line for chain in chains if chain[1:] == outer for line in self._lines(chain[:1])]
        return next(iter(of_function), None) or next((line for n in numbers if (line := self.line(n))), None)

    def mnemonic(self, position: int) -> str:
        """Give the instruction's mnemonic."""
        return self.mnemonics[position - 1] if 0 < position <= len(self.mnemonics) else ""


@dataclass(frozen=True)
class MachineProgram:
    """One decoded listing whose image lies in a file."""

    path: str  # of the image
    kernels: Mapping[str, int]  # by symbol: the kernel's number in the image
    layouts: Mapping[str, KernargLayout]
    lines: InstructionLines
    lds_bytes: Mapping[str, int] = field(default_factory=dict)
    sought: SoughtComparisons | None = None  # of data, in the source's own lines

    @property
    def comparisons(self) -> tuple[DataComparison, ...]:
        """List the comparisons of data."""
        return self.sought.every if self.sought else ()


def machine_program(listing: str, folder: Path, source_name: str, *, nulls: int = 0) -> MachineProgram:
    """Decode a listing and keep its image in the folder; UnreadableListing where it holds what is not known."""
    decoded = decode_listing(listing)
    digest = hashlib.sha256(f"{_decoder()}\0{listing}".encode()).hexdigest()
    path = folder / f"{digest[:32]}.image"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{path.name}.{os.getpid()}"
        decoded.write_image(draft)
        draft.replace(path)
    return MachineProgram(
        str(path),
        {symbol: number for number, symbol in enumerate(decoded.kernels)},
        {symbol: layout_of({**k.metadata, ".name": symbol}, nulls=nulls) for symbol, k in decoded.kernels.items()},
        _lines(decoded, source_name),
        {symbol: kernel.lds_bytes for symbol, kernel in decoded.kernels.items()},
        SoughtComparisons(decoded, listing, source_name),
    )


@cache
def _decoder() -> str:
    """Digest what decides how a listing is read."""
    digest = hashlib.sha256()
    for path in sorted((*_FOLDER.glob("*.py"), _FOLDER / "instructions.tsv")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _lines(decoded: DecodedProgram, source_name: str) -> InstructionLines:
    mnemonics = tuple(instruction.row.name for instruction in decoded.instructions)
    return InstructionLines(decoded.chains, mnemonics, source_name, _grid_waits(decoded, mnemonics))


def _grid_waits(decoded: DecodedProgram, mnemonics: Sequence[str]) -> frozenset[int]:
    """Find the positions around the sleeps of a program that has the counts of a grid's barrier."""
    if not any(GRID_COUNT in name for name in decoded.symbols):
        return frozenset()
    sleeps = (number for number, mnemonic in enumerate(mnemonics, 1) if mnemonic == "s_sleep")
    return frozenset(position for sleep in sleeps for position in range(sleep - GRID_REACH, sleep + GRID_REACH + 1))
