"""Addresses of a listing's symbols, and operands that are symbols: relative addresses, literals, branch targets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sandbox.machine.assembler_expressions import evaluate
from sandbox.machine.data_sections import DataSection
from sandbox.machine.image_layout import CODE_BASE, CODE_STRIDE, DATA_BASE
from sandbox.machine.listing_reader import ReadListing
from sandbox.machine.operands import is_number, register
from sandbox.machine.unreadable import UndefinedName, UnreadableListing

GOT = ".got"
_MAX_DEPTH = 50
# The compiler counts from the end of s_getpc_b64: a literal lies 4 bytes behind the start of the s_add_u32 that follows
# it, and 12 behind it in the s_addc_u32.
_ADDENDS = {"lo": 4, "hi": 12}
_RELOCATED = re.compile(r"(.+?)@(rel32|gotpcrel32|abs32)(?:@(lo|hi))?((?:[+-]\w+)*)")
_GOT_NAMES = re.compile(r"([\w.$]+)@gotpcrel32")


@dataclass
class SymbolTable:
    """Values of symbols, computed when they are asked for."""

    listing: ReadListing
    slots: dict[str, int] = field(default_factory=dict)  # offsets of the GOT's entries
    program_counters: dict[int, int] = field(default_factory=dict)  # by scalar register: what s_getpc_b64 gave it
    values: dict[str, int] = field(default_factory=dict)
    depth: int = 0

    def lay_out(self) -> list[DataSection]:
        """Place the sections one after the other, with a table of addresses for symbols that are asked for by GOT."""
        names = {m for i in self.listing.instructions if "@got" in i.text for m in _GOT_NAMES.findall(i.text)}
        sections = list(self.listing.sections.values())
        if names:
            address_table = DataSection(GOT, is_writable=False)
            for name in sorted(names):
                self.slots[name] = len(address_table.content)
                address_table.add(".quad", name if name.strip("0123456789") else "0", 0, 1 << 20)
            sections.append(address_table)
            self.listing.sections[GOT] = address_table
        end = 0
        for section in sections:
            section.start = -(-end // section.alignment) * section.alignment
            end = section.start + len(section.content)
        return [section for section in sections if section.content]

    def value(self, name: str) -> int:
        """Compute a label's guest address or an assigned symbol's value; UnreadableListing where there is none."""
        if (cached := self.values.get(name)) is not None:
            return cached
        listing = self.listing
        if name in listing.labels:
            result = CODE_BASE + CODE_STRIDE * listing.labels[name]
        elif name in listing.data_labels:
            section, offset = listing.data_labels[name]
            result = DATA_BASE + listing.sections[section].start + offset
        elif name in listing.assignments:
            if self.depth > _MAX_DEPTH:
                raise UnreadableListing("this symbol is defined by itself, or by too many others", name[:80])
            self.depth += 1
            try:
                result = evaluate(listing.assignments[name], self.value)
            finally:
                self.depth -= 1
        elif name in listing.weak:
            result = 0
        else:
            raise UndefinedName("", name[:80])
        self.values[name] = result
        return result

    def instruction(self, label: str) -> int:
        """Find the number of the instruction at a label; the label must have one."""
        number, remainder = divmod(self.value(label) - CODE_BASE, CODE_STRIDE)
        if remainder or not 0 <= number < len(self.listing.instructions):
            raise UnreadableListing("this branch leads out of the code", label[:80])
        return number

    def datum(self, text: str, address: int) -> int:
        """Compute an expression that stands among the data at this guest address."""
        match = _RELOCATED.fullmatch(text)
        return self._relocated(match, address, 0) if match else evaluate(text, self.value)

    def resolved(self, words: tuple[str, ...]) -> list[str]:
        """Put numbers in place of an instruction's symbols and expressions."""
        return [self._resolved(word, words) for word in words]

    def _resolved(self, word: str, words: tuple[str, ...]) -> str:
        if is_number(word) or register(word) or word == "off":
            return word
        if match := _RELOCATED.fullmatch(word):
            if match[2] == "abs32":
                return hex(self._relocated(match, 0, 0) & 0xFFFFFFFF)
            source = register(words[1]) if len(words) == 3 else None
            counter = self.program_counters.get(source[1]) if source and source[0] == "s" else None
            if counter is None:
                raise UnreadableListing("no s_getpc_b64 stands before this relative address", word[:80])
            return hex(self._relocated(match, counter, _ADDENDS[match[3] or "lo"]) & 0xFFFFFFFF)
        if not re.search(r"[A-Za-z_.$(]", word) or word[0] in "|[" or word.startswith(("neg(", "abs(", "sext(")):
            return word
        value = evaluate(word, self.value)
        return str(value) if value < 0 else hex(value)

    def _relocated(self, match: re.Match[str], base: int, addend: int) -> int:
        """Compute what the linker would fill in: S + A - P, or its upper half."""
        name, kind, half, offset = match[1], match[2], match[3], match[4]
        if kind == "gotpcrel32":
            if name not in self.slots:
                raise UnreadableListing("this symbol has no entry in the table of addresses", name[:80])
            value = DATA_BASE + self.listing.sections[GOT].start + self.slots[name]
        else:
            value = evaluate(name, self.value)
        value += (evaluate("0" + offset, self.value) if offset else 0) - addend - base
        return value >> 32 if half == "hi" else value & 0xFFFFFFFF if half else value
