"""An instruction while its text is read, and the bytes that it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox.machine import fields
from sandbox.machine.image_layout import ABSENT, HEAD, NOWHERE, RESULTS, SOURCES, TAIL, Flag
from sandbox.machine.instruction_set import TableRow
from sandbox.machine.modifiers import Settings

NO_SETTINGS: Settings = {"flags": 0}
_NO_WAIT = (fields.UNWAITED,) * 3
_PLAIN_TAIL = (0, 15, 15, 0, 0, 0, 0, 0)  # control, masks, omod, selected, cbsz, abid, blgp


def number(settings: Settings, name: str, default: int = 0) -> int:
    """Look up a setting that is no list."""
    value = settings.get(name, default)
    assert isinstance(value, int)
    return value


@dataclass(slots=True)
class InstructionDraft:
    """Parts of an instruction that have been read; results and sources are operands of 16 bytes, or ABSENT."""

    row: TableRow
    settings: Settings
    results: list[bytes] = field(default_factory=lambda: [ABSENT] * RESULTS)
    sources: list[bytes] = field(default_factory=lambda: [ABSENT] * SOURCES)
    label: str = ""
    flags: int = 0
    offset: int = 0
    control: int = 0
    counts: tuple[int, int, int] = _NO_WAIT

    def bit(self, name: str, index: int) -> int:
        """Read an element of a list such as op_sel, 0 where it has none."""
        bits = self.settings.get(name)
        return bits[index] if isinstance(bits, tuple) and index < len(bits) else 0

    def modify_source(self, index: int, modifier: int) -> None:
        """Add a modifier to a source."""
        self.sources[index] = modified(self.sources[index], modifier)

    def packed(self) -> bytes:
        """Pack the image's bytes behind the number of the semantics."""
        row, results, sources = self.row, self.results, self.sources
        result_count = 0 if results[0] is ABSENT else 1 if results[1] is ABSENT else 2
        source_count = SOURCES
        while source_count and sources[source_count - 1] is ABSENT:
            source_count -= 1
        if "st64" in row.name:
            self.flags |= Flag.STRIDE_64
        offset, offset1 = self.offset, 0
        tail_fields: tuple[int, ...] = _PLAIN_TAIL
        if self.settings is not NO_SETTINGS:
            offset, offset1, tail_fields = self._settled()
        elif self.control:
            tail_fields = (self.control, *_PLAIN_TAIL[1:])
        head = HEAD.pack(0, result_count, source_count, row.memory_bytes, row.unit)
        tail = TAIL.pack(offset, offset1, NOWHERE, self.flags, *tail_fields, *self.counts)
        return head[4:] + b"".join(results + sources) + tail

    def _settled(self) -> tuple[int, int, tuple[int, ...]]:
        """Settle offsets and the last fields, as the settings have them."""
        row, settings, offset, control = self.row, self.settings, self.offset, self.control
        if row.name == "ds_swizzle_b32":
            control = number(settings, "offset") & 0xFFFF
        else:
            offset += number(settings, "offset") + number(settings, "offset0")
        if "format" in row.semantics:
            control = number(settings, "format") or number(settings, "dfmt", 1) | number(settings, "nfmt") << 4
        masks = number(settings, "row_mask", 15), number(settings, "bank_mask", 15)
        names = ("omod", "dst_sel", "cbsz", "abid", "blgp")
        return offset, number(settings, "offset1"), (control, *masks, *(number(settings, name) for name in names))


def modified(operand: bytes, modifier: int) -> bytes:
    """Add one modifier to a copy of the operand."""
    return operand[:2] + bytes([operand[2] | modifier]) + operand[3:] if operand is not ABSENT else operand


def narrowed(operand: bytes, dwords: int) -> bytes:
    """Take the first registers of an operand."""
    return operand[:1] + bytes([dwords]) + operand[2:]
