"""A line of assembly for a row of the instruction table, with the registers that it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.machine.instruction_set import OperandSpec, TableRow
from tests.support.register_steps import EXEC, SCC, VCC

FIRST_SOURCE, FIRST_RESULT = 0, 32  # of vectors; each source has four registers
FIRST_SCALAR_SOURCE, FIRST_SCALAR_RESULT = 20, 40


@dataclass(frozen=True)
class InstructionText:
    """The text, and register numbers: accumulation registers from 256 on."""

    text: str
    vectors_read: tuple[int, ...]
    scalars_read: tuple[int, ...]
    vectors_written: tuple[int, ...]
    scalars_written: tuple[int, ...]


def instruction_text(row: TableRow) -> InstructionText | None:
    """None where an operand is neither a register nor an immediate of 16 bits."""
    words: list[str] = []
    read: dict[bool, list[int]] = {False: [], True: []}
    written: dict[bool, list[int]] = {False: [], True: []}
    for spec in row.operands:
        if spec.name in ("simm16", "uimm16"):
            words.append("0x8003")
            continue
        if not (spec.is_result or spec.is_source) or not set(spec.files) & set("vsa"):
            return None
        word, registers, is_scalar = _register(spec)
        words.append(word)
        (written if spec.is_result else read)[is_scalar] += registers
    for left, right in row.tied:
        if left[0] == "s":  # a result's old value
            spec = next(o for o in row.operands if o.role == right)
            read["v" not in spec.files] += _register(spec)[1]
    scalars_read = [
        *read[True],
        *([SCC] if "scc" in row.reads else []),
        *([VCC, VCC + 1] if "vcc" in row.reads else []),
    ]
    special = {"scc": [SCC], "exec": [EXEC, EXEC + 1], "vcc": [VCC, VCC + 1]}
    scalars_written = written[True] + [
        i for name, registers in special.items() if name in row.writes for i in registers
    ]
    unique = [tuple(dict.fromkeys(x)) for x in (read[False], scalars_read, written[False], scalars_written)]
    return InstructionText(f"{row.name} {', '.join(words)}".strip(), *unique)


def _register(spec: OperandSpec) -> tuple[str, list[int], bool]:
    count = spec.type.dwords
    file = next(f for f in "vas" if f in spec.files)
    is_scalar = file == "s"
    starts = (FIRST_SCALAR_RESULT, FIRST_SCALAR_SOURCE) if is_scalar else (FIRST_RESULT, FIRST_SOURCE)
    first = starts[spec.is_source] + 4 * spec.index
    word = f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"
    base = 256 if file == "a" else 0
    return word, [base + first + i for i in range(count)], is_scalar
