"""The comparisons of a program that rest on values from memory, and what they compare them with.

Values flow through registers, LDS and scratch along the branches of the listing. What is loaded through a pointer among
the arguments is data; arguments, constants of the file and numbers of work-items are not. A function that is called is
not followed.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from records.computed_once import computed_once
from sandbox.machine.decoded_program import DecodedProgram
from sandbox.machine.image_layout import EXEC, OPERAND, RESULTS, SCC, SOURCES, VCC, OperandKind
from sandbox.machine.instruction_decoder import DecodedInstruction

MOST = 4096  # comparisons of a program
FEW = 32  # numbers that one side may be
LOOKED_AT = 1 << 19  # instructions at most, in search of the last writes of registers that are compared
_SCALARS = 512  # bit of s0; vector registers come before
_LDS, _SCRATCH = 1 << 800, 1 << 801
_IMPLICIT = {"scc": 1 << (_SCALARS + SCC), "vcc": 3 << (_SCALARS + VCC), "exec": 0}
_HEAD_BYTES = 4  # of a body, before its operands
_BOUNDS = ("min_f", "max_f", "med3_f", "min_i", "max_i", "min_u", "max_u")
# Sizes that LLVM itself compares with where it expands an exponential, a conversion to bf16, a root or a logarithm.
_EXPANSIONS = frozenset(
    {
        103.2789306640625,
        88.72283935546875,
        2139095040.0,
        4286578688.0,
        1.1754943508222875e-38,
        1.2621774483536189e-29,
        128.0,
        149.0,
    }
)
_LOC = re.compile(r"\s*\.loc\s+\d{1,9}\s+\d{1,9}\s+(\d{1,9})")
_MOVES = frozenset({"s_mov_b32", "mov_b32", "s_movk_i32"})
_ENDS = frozenset({"s_branch", "s_endpgm", "s_setpc_b64", "s_endpgm_saved"})

_Operand = tuple[int, int, int, int, int, int]  # as image_layout.OPERAND


@dataclass(frozen=True)
class DataComparison:
    """One comparison, or one bound, of data: its instruction, and numbers on its other side where these are fixed."""

    instruction: int
    line: int
    column: int
    numbers: tuple[float, ...]
    is_told: bool = True  # its outcome can be seen; of a bound whose constant is in a register it cannot


class SoughtComparisons:
    """The comparisons of a program, looked for by whoever asks first: what only ranks needs none."""

    def __init__(self, program: DecodedProgram, listing: str, source_name: str) -> None:
        """As `data_comparisons`."""
        self._text = program, listing, source_name

    @computed_once
    def every(self) -> tuple[DataComparison, ...]:
        """Find all of them; the decoded program, which is large, is needed no more."""
        comparisons = data_comparisons(*self._text)
        del self._text
        return comparisons


def data_comparisons(program: DecodedProgram, listing: str, source_name: str) -> tuple[DataComparison, ...]:
    """Find the comparisons of the source's own lines that data decide, those whose outcome can be seen first."""
    steps = [_Step(instruction) for instruction in program.instructions]
    if not any(step.is_comparison or step.is_bound for step in steps):
        return ()
    data_registers, moves, columns = _data_registers(program, steps), _Moves(program, steps), _columns(program, listing)
    comparisons = list[DataComparison]()
    for number, step in enumerate(steps):
        file, line = program.chains[number][0] if program.chains[number] else ("", 0)
        is_theirs = line > 0 and file.rpartition("/")[2] == source_name
        is_asked = step.is_comparison or step.is_bound
        if not (is_asked and is_theirs and step.reads & data_registers[number]) or len(comparisons) >= MOST:
            continue
        read = dict.fromkeys(_numbers(step, number, moves))
        numbers = tuple(value for value in read if abs(value) not in _EXPANSIONS)
        if numbers or (step.is_comparison and not read):
            comparisons.append(DataComparison(number, line, columns[number], numbers, step.is_comparison))
    return tuple(sorted(comparisons, key=lambda comparison: not comparison.is_told))


def _columns(program: DecodedProgram, listing: str) -> list[int]:
    """Give the column of each instruction, 1 where the listing has none."""
    columns, column, waiting = list[int](), 1, iter(program.rows)
    instruction_row = next(waiting, 0)
    for row, line in enumerate(listing.split("\n"), 1):
        if located := _LOC.match(line):
            column = max(1, int(located[1]))
        if row == instruction_row:
            columns.append(column)
            instruction_row = next(waiting, 0)
    return columns + [1] * (len(program.rows) - len(columns))


class _Step:
    """The registers that an instruction reads and writes, each a set as bits."""

    def __init__(self, instruction: DecodedInstruction) -> None:
        row, name = instruction.row, instruction.row.semantics
        operands = [
            OPERAND.unpack_from(instruction.body, _HEAD_BYTES + OPERAND.size * n) for n in range(RESULTS + SOURCES)
        ]
        self.name, self.mnemonic = name, row.name
        self.sources: Sequence[_Operand] = operands[RESULTS:]
        self.reads = _bits(self.sources) | _implicit_registers(row.reads)
        self.writes = _bits(operands[:RESULTS]) | _implicit_registers(row.writes)
        self.result = operands[0]
        self.is_scalar_load = row.group == "smem" and self.writes != 0
        self.is_load = row.memory_bytes > 0 and self.writes != 0 and not self.is_scalar_load
        self.is_store = row.memory_bytes > 0 and not self.writes
        self.inside = _LDS if row.group == "lds" else _SCRATCH if row.group == "scratch" else 0
        self.is_move = name in _MOVES and self.sources[0][0] == OperandKind.CONSTANT
        self.is_bound = name.startswith(_BOUNDS)
        has_constant = any(
            source[0] == OperandKind.CONSTANT and math.isfinite(_read(source[5], name)) for source in self.sources
        )
        is_asked = name.startswith(("cmp_", "s_cmp")) and not name.startswith(("cmp_u_", "cmp_o_", "cmp_class"))
        self.is_comparison = is_asked or (self.is_bound and has_constant)
        self.is_scalar = row.group == "salu"

    def after(self, data: int, addresses: int) -> tuple[int, int]:
        """Follow registers that hold data, and scalar ones that hold addresses of arguments, over this instruction."""
        is_data = bool(self.reads & data)
        if self.is_scalar_load:
            is_data |= not self.reads & addresses
        elif self.is_load:
            is_data = is_data or not self.inside or bool(data & self.inside)
        elif self.is_store and self.inside and is_data:
            data |= self.inside
        is_address = (self.is_scalar and bool(self.reads & addresses)) or self.mnemonic == "s_getpc_b64"
        return (
            data | self.writes if is_data else data & ~self.writes,
            addresses | self.writes if is_address else addresses & ~self.writes,
        )


def _bits(operands: Sequence[_Operand]) -> int:
    mask = 0
    for kind, dwords, _, _, index, _ in operands:
        if kind == OperandKind.VECTOR:
            mask |= ((1 << dwords) - 1) << index
        elif kind == OperandKind.SCALAR and index not in (EXEC, EXEC + 1):
            mask |= ((1 << dwords) - 1) << (_SCALARS + index)
    return mask


def _implicit_registers(names: frozenset[str]) -> int:
    mask = 0
    for name in names:
        mask |= _IMPLICIT.get(name, 0)
    return mask


def _data_registers(program: DecodedProgram, steps: Sequence[_Step]) -> list[int]:
    """Find for each instruction the registers that hold data before it, by any way there."""
    before = [(0, 0)] * len(steps)
    reached = [False] * len(steps)
    waiting = list[int]()
    for kernel in program.kernels.values():
        # The pointer to the arguments is among the first user registers; what others hold is no data either.
        before[kernel.entry] = (0, ((1 << 16) - 1) << _SCALARS)
        reached[kernel.entry] = True
        waiting.append(kernel.entry)
    while waiting:
        number = waiting.pop()
        data, addresses = steps[number].after(*before[number])
        for after in _followers(program, steps, number):
            old_data, old_addresses = before[after]
            new = (old_data | data, old_addresses & addresses if reached[after] else addresses)
            if not reached[after] or new != before[after]:
                before[after], reached[after] = new, True
                waiting.append(after)
    return [data for data, _ in before]


def _followers(program: DecodedProgram, steps: Sequence[_Step], number: int) -> Iterator[int]:
    if number in program.targets:
        yield program.targets[number]
    if steps[number].name not in _ENDS and number + 1 < len(steps):
        yield number + 1


class _Moves:
    """Constants that registers hold."""

    def __init__(self, program: DecodedProgram, steps: Sequence[_Step]) -> None:
        self._steps, self._left = steps, LOOKED_AT
        self._before: list[list[int]] = [[] for _ in steps]
        for number in range(len(steps)):
            for after in _followers(program, steps, number):
                self._before[after].append(number)

    def constants_in(self, register: int, number: int) -> list[int]:
        """List the words that the last writes of a register move there, on each way to this instruction."""
        constants, visited, waiting = dict[int, None](), {number}, [*self._before[number]]
        while waiting and self._left:
            last = waiting.pop()
            if last in visited:
                continue
            visited.add(last)
            self._left -= 1
            step = self._steps[last]
            if not step.writes & register:
                waiting += self._before[last]
            elif step.is_move and step.writes == register:
                constants[step.sources[0][5]] = None
        return list(constants)


def _numbers(step: _Step, number: int, moves: _Moves) -> Iterator[float]:
    for operand in step.sources:
        kind, dwords = operand[0], operand[1]
        if kind == OperandKind.CONSTANT:
            words = [operand[5]]
        elif kind in (OperandKind.VECTOR, OperandKind.SCALAR) and dwords == 1:
            words = moves.constants_in(_bits([operand]), number)
        else:
            continue
        for word in words if len(words) <= FEW else ():
            value = _read(word, step.name)
            if math.isfinite(value) and value:
                yield value


def _read(word: int, name: str) -> float:
    """Read these bits as the number that they are to an instruction of this name."""
    if name.endswith("f64"):
        return float(struct.unpack("<d", struct.pack("<Q", word & (1 << 64) - 1))[0])
    if name.endswith("f32"):
        return float(struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0])
    if name.endswith("f16"):
        return float(np.array(word & 0xFFFF, np.uint16).view(np.float16))
    return float(word - (1 << 32) if "_i" in name and 1 << 31 <= word < 1 << 32 else word)
