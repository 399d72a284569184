"""Types and operands of LLVM's text form: where one ends, how many bytes it takes, what two functions must share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from records.computed_once import computed_once

_OPEN, _CLOSE = "([{<", ")]}>"
_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8, "i1": 1, "x86_fp80": 16, "fp128": 16}
_INTEGER = re.compile(r"i(\d+)$")
_ARRAY = re.compile(r"\[(\d+) x (.*)\]$", re.S)
_VECTOR = re.compile(r"<(\d+) x (.*)>$", re.S)
_PASSED = re.compile(r"(?<![-%@.$\w])(?:byval|sret|inreg|nest|inalloca|preallocated|swift\w+)\b(?:\(|$)?")


class UnknownText(ValueError):
    """A part of a module that is not in the small language which is understood here."""


def split(text: str, separator: str = ",") -> list[str]:
    """The parts between separators that stand in no bracket and no quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE and not (letter == ">" and text[at - 1] == "-"):
            depth -= 1
        elif letter == separator and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def closing(text: str, start: int) -> int:
    """Place of the bracket that closes the one at `start`."""
    depth, quoted = 0, False
    for at in range(start, len(text)):
        letter = text[at]
        if letter == '"':
            quoted = not quoted
        elif not quoted and letter in _OPEN:
            depth += 1
        elif not quoted and letter in _CLOSE:
            depth -= 1
            if not depth:
                return at
    raise UnknownText("a bracket that is not closed")


def leading(text: str) -> tuple[str, str]:
    """The word, name or bracketed text that comes first, and the rest."""
    text = text.lstrip()
    if not text:
        raise UnknownText("a word is missing")
    if text[0] in _OPEN:
        end = closing(text, 0) + 1
        return text[:end], text[end:].lstrip()
    found = re.match(r'[%@]"[^"]*"|[^\s,(]+', text)
    if not found:
        raise UnknownText(text[:40])
    return found[0], text[found.end() :].lstrip()


@dataclass(frozen=True)
class Types:
    """The named types of one module."""

    named: Mapping[str, str]

    @computed_once
    def _known(self) -> dict[str, tuple[int, int]]:
        return {}

    def size(self, kind: str) -> int:
        """Bytes from one element to the next, as the x86-64 ABI lays them out."""
        return self._layout(kind.strip())[0]

    def stored(self, kind: str) -> int:
        """Bytes that a load or store of this type touches."""
        kind = kind.strip()
        if found := _INTEGER.match(kind):
            return (int(found[1]) + 7) // 8
        if (found := _VECTOR.match(kind)) and not found[2].startswith("vscale"):
            item = _INTEGER.match(found[2])
            bits = int(item[1]) if item else 8 * _BYTES.get(found[2], 0)
            if not bits:
                raise UnknownText(kind)
            return (int(found[1]) * bits + 7) // 8
        return self.size(kind)

    def _layout(self, kind: str) -> tuple[int, int]:
        if kind not in self._known:
            self._known[kind] = self._compute(kind)
        return self._known[kind]

    def _compute(self, kind: str) -> tuple[int, int]:
        if kind in _BYTES:
            return _BYTES[kind], _BYTES[kind]
        if found := _INTEGER.match(kind):
            align = min(16, 1 << max(0, (int(found[1]) + 7) // 8 - 1).bit_length())
            return -(-((int(found[1]) + 7) // 8) // align) * align, align
        if found := _VECTOR.match(kind):
            align = 1 << (self.stored(kind) - 1).bit_length()
            return align, align
        if found := _ARRAY.match(kind):
            size, align = self._layout(found[2].strip())
            return int(found[1]) * size, align
        if kind in self.named:
            return self._layout(self.named[kind])
        packed = kind.startswith("<{")
        if packed or kind.startswith("{"):
            return self._struct(split(kind[2:-2] if packed else kind[1:-1]), packed=packed)
        raise UnknownText(kind)

    def _struct(self, members: Sequence[str], *, packed: bool) -> tuple[int, int]:
        at, widest = 0, 1
        for member in members:
            size, align = self._layout(member)
            align = 1 if packed else align
            at, widest = -(-at // align) * align + size, max(widest, align)
        return -(-at // widest) * widest, widest


def signature(convention: str, returned: str, parameters: Sequence[str]) -> str:
    """Convention and types, which a call and its callee must share, or the callee would leave another stack behind."""
    if any(text == "..." for text in parameters):
        raise UnknownText("a function with a variable number of arguments")
    return f"{convention} {returned} ({', '.join(_parameter(text) for text in parameters)})".strip()


def _parameter(text: str) -> str:
    kind, rest = leading(text)
    words = []
    for found in _PASSED.finditer(rest):
        word = found[0].rstrip("(")
        if word not in ("byval", "sret", "inreg"):
            raise UnknownText(f"an argument passed by {word}")
        inside = rest[found.end() : closing(rest, found.end() - 1)] if found[0].endswith("(") else ""
        words.append(f"{word}({inside})")
    return " ".join([kind, *words])
