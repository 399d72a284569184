"""An instruction of the machine's image, unpacked again into fields with names."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.machine.image_layout import HEAD, OPERAND, RESULTS, SOURCES, TAIL
from sandbox.machine.instruction_decoder import DecodedInstruction, decode_instruction

_TAIL = (
    *("offset", "offset1", "target", "flags", "control", "row_mask", "bank_mask", "output_modifier", "selected"),
    *("cbsz", "abid", "blgp", "vmcnt", "lgkmcnt", "expcnt"),
)
KINDS = ("none", "v", "s", "constant")


@dataclass(frozen=True)
class OperandFields:
    """One operand, as it stands in the image."""

    kind: str
    dwords: int
    modifiers: int
    select: int
    index: int
    bits: int


@dataclass(frozen=True)
class InstructionFields:
    """One instruction, as it stands in the image; its other numbers by name."""

    semantics: str
    results: tuple[OperandFields, ...]
    sources: tuple[OperandFields, ...]
    bytes: int
    unit: int
    numbers: dict[str, int]

    def __getattr__(self, name: str) -> int:
        return self.numbers[name]


def unpacked(instruction: DecodedInstruction) -> InstructionFields:
    """The fields of an instruction's bytes."""
    image = bytes(4) + instruction.body
    _, results, sources, size, unit = HEAD.unpack_from(image)
    offsets = [HEAD.size + i * OPERAND.size for i in range(RESULTS + SOURCES)]
    operands = [OperandFields(KINDS[row[0]], *row[1:]) for row in (OPERAND.unpack_from(image, p) for p in offsets)]
    numbers = dict(zip(_TAIL, TAIL.unpack_from(image, offsets[-1] + OPERAND.size), strict=True))
    first, second = operands[:RESULTS][:results], operands[RESULTS:][:sources]
    return InstructionFields(instruction.row.semantics, tuple(first), tuple(second), size, unit, numbers)


def fields(text: str) -> InstructionFields:
    """The fields of this text's image."""
    return unpacked(decode_instruction(text))
