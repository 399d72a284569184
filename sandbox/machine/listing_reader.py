"""Reads an assembly listing in one pass: instructions with their places, labels, symbols, data, kernels.

The text is clang's for gfx942, Triton's, or written by hand. A directive that is not known is refused: it might change
what the program is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sandbox.machine.data_sections import DIRECTIVES, MAX_BYTES, DataSection
from sandbox.machine.places import Place, PlaceReader
from sandbox.machine.unreadable import UnreadableListing

MAX_LISTING = 16 << 20
MAX_INSTRUCTIONS = 1 << 20
_BEHIND = "s_trap 2"  # where a function of which nothing is left is called
MARKERS = {"; wave barrier": "wave_barrier", "; release fence": "release_fence"}  # comments, and what they stand for
_LABEL = re.compile(r'\s*([A-Za-z_.$][\w.$]*|"[^"]{1,1000}")\s*:(?!:)')
_STATEMENT = re.compile(r"\s*(\.?[A-Za-z_][\w.]*)\s*")
_SET = re.compile(r'\s*([A-Za-z_.$][\w.$]*|"[^"]{1,1000}")\s*=(?!=)\s*(.*)')
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|;|//|/\*')
_SECTION = re.compile(r'("[^"]*"|[^\s,]+)\s*(?:,\s*"([^"]*)")?\s*(?:,\s*[@%](\w+))?')
_DEBUG = ("\t.byte", "\t.short", "\t.long", "\t.quad", "\t.uleb128", "\t.sleb128", "\t.asci")
_DATA_PREFIXES = {".rodata": "a", ".data": "aw", ".bss": "aw", ".tdata": "aw"}
_IDLE = (["4", "3212836864"], ["4", "0xbf800000"])  # s_nop 0
_IGNORED = frozenset(
    (
        *(".globl", ".global", ".protected", ".hidden", ".internal", ".local", ".type", ".size", ".ident"),
        *(".addrsig", ".addrsig_sym", ".amdgcn_target", ".amdhsa_code_object_version", ".p2alignl", ".no_dead_strip"),
    )
)


@dataclass
class ListedInstruction:
    """A line that is an instruction: its text single-spaced, its row in the listing, its chain of places."""

    text: str
    row: int
    chain: tuple[Place, ...]


@dataclass
class ReadListing:
    """All that the listing says, before symbols are resolved."""

    instructions: list[ListedInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  # in code: the instruction that follows
    data_labels: dict[str, tuple[str, int]] = field(default_factory=dict)  # section and offset
    assignments: dict[str, str] = field(default_factory=dict)  # .set: the expression's text
    weak: set[str] = field(default_factory=set)
    sections: dict[str, DataSection] = field(default_factory=dict)
    kernels: dict[str, dict[str, str]] = field(default_factory=dict)  # directives by kernel
    metadata: str = ""


def read_listing(text: str) -> ReadListing:
    """Read a listing; UnreadableListing names what is not known and its line."""
    if len(text) > MAX_LISTING:
        raise UnreadableListing("the listing is larger than 16 MiB", "")
    reader = _ListingReader()
    for row, line in enumerate(text.split("\n"), 1):
        try:
            reader.line(line, row)
        except UnreadableListing as refused:
            raise refused.placed(row, line.strip()[:200], reader.chain[0] if reader.chain else ("", 0)) from None
    if reader.kernel is not None or reader.block is not None or reader.is_comment:
        raise UnreadableListing("the listing ends inside of a block", reader.kernel or ".amdgpu_metadata or a comment")
    _close(reader.read)
    return reader.read


def _close(read: ReadListing) -> None:
    """Let a function of which the compiler left nothing, as it cannot end, meet a trap where the code ends."""
    end = len(read.instructions)
    if any(number == end and name[0] != "." for name, number in read.labels.items()):
        read.instructions.append(ListedInstruction(_BEHIND, 0, ()))


class _ListingReader:
    def __init__(self) -> None:
        self.read = ReadListing()
        self.chains = PlaceReader()
        self.chain: tuple[Place, ...] = ()
        self.is_code = True
        self.is_comment = False  # inside of /* */
        self.data: DataSection | None = None
        self.data_bytes = 0
        self.kernel: str | None = None
        self.block: list[str] | None = None  # lines of a metadata block that is open

    def line(self, line: str, row: int) -> None:
        """Read one line of the text."""
        if self.block is not None:
            self._metadata(line)
            return
        head = line[:2] if not self.is_comment else ""
        if self.is_code and len(head) == 2 and head[0] == "\t" and "a" <= head[1] <= "z" and "/" not in line:
            self._instruction(line, row)
            return
        if head == "\t.":
            if line.startswith("\t.loc\t"):
                self.chain = self.chains.chain(line[1:])
                return
            if not self.is_code and self.data is None and line.startswith(_DEBUG):
                return
        if self.is_comment or "/" in line:
            line = self._uncommented(line)
        bare = line.strip()
        if not bare or bare[0] == ";":
            if self.is_code and bare in MARKERS:
                self._instruction(MARKERS[bare], row)
            return
        if bare[0] == "#":
            return
        while match := _LABEL.match(line):
            self._label(match[1].strip('"'))
            line = line[match.end() :]
        if (line := line.strip()) and line[0] != ";":
            self._statement(line, row)

    def _uncommented(self, line: str) -> str:
        if self.is_comment:
            end = line.find("*/")
            if end < 0:
                return ""
            line = line[end + 2 :]
        line, self.is_comment = _before_comment(line)
        return line

    def _instruction(self, line: str, row: int) -> None:
        text = line.partition(";")[0].strip() if ";" in line else line.strip()
        if "\t" in text or "  " in text:
            text = " ".join(text.split())
        if len(self.read.instructions) >= MAX_INSTRUCTIONS:
            raise UnreadableListing("the listing has more than a million instructions", "")
        if "=" in text and (match := _SET.fullmatch(text)):
            self._set(match[1], match[2])
            return
        self.read.instructions.append(ListedInstruction(text, row, self.chain))

    def _label(self, name: str) -> None:
        read = self.read
        if not (self.is_code or self.data):
            return
        if name in read.labels or name in read.data_labels:
            raise UnreadableListing("this label stands twice", name[:80])
        if self.is_code:
            read.labels[name] = len(read.instructions)
        elif self.data:
            read.data_labels[name] = self.data.name, len(self.data.content)

    def _statement(self, line: str, row: int) -> None:
        match = _STATEMENT.match(line)
        if match is None:
            if not (self.is_code or self.data):
                return
            raise UnreadableListing("this line is not understood", line[:80])
        word, arguments = match[1], line[match.end() :]
        if word[0] != ".":
            if "=" in line and (assigned := _SET.fullmatch(_plain(line))):
                self._set(assigned[1], assigned[2])
            elif self.is_code:
                self._instruction(line, row)
            elif self.data:
                raise UnreadableListing("an instruction stands among data", line[:80])
            return
        self._directive(word, arguments, row)

    def _directive(self, word: str, arguments: str, row: int) -> None:
        if word == ".loc":
            self.chain = self.chains.chain(f"{word} {arguments}")
        elif word == ".file":
            self.chains.add_file(f"{word} {arguments}")
        elif word == ".weak":
            self.read.weak.update(name.strip() for name in _plain(arguments).split(","))
        elif word in _IGNORED or word.startswith(".cfi_"):
            return
        elif word in (".text", ".section", ".data", ".bss", ".rodata"):
            self._section(word, _plain(arguments))
        elif word in (".set", ".equ", ".equiv"):
            name, _, value = _plain(arguments).partition(",")
            self._set(name.strip().strip('"'), value.strip())
        elif word == ".amdhsa_kernel":
            self._open_kernel(_plain(arguments).strip('"'))
        elif word == ".end_amdhsa_kernel":
            self.kernel = None
        elif word.startswith(".amdhsa_") and self.kernel is not None:
            self.read.kernels[self.kernel][word.removeprefix(".amdhsa_")] = _plain(arguments)
        elif word == ".amdgpu_metadata":
            self.block = []
        elif word == ".comm":
            self._common([part.strip() for part in _plain(arguments).split(",")], row)
        elif self.is_code:
            self._filler(word, _plain(arguments))
        elif self.data:
            self._datum(word, arguments, row)

    def _datum(self, word: str, arguments: str, row: int) -> None:
        if word not in DIRECTIVES or self.data is None:
            raise UnreadableListing("this directive is not known", word[:80])
        before = len(self.data.content)
        self.data.add(word, arguments if '"' in arguments else _plain(arguments), row, MAX_BYTES - self.data_bytes)
        self.data_bytes += len(self.data.content) - before
        if self.data_bytes > MAX_BYTES:
            raise UnreadableListing(f"the data are larger than {MAX_BYTES >> 20} MiB", self.data.name)

    def _filler(self, word: str, arguments: str) -> None:
        """Accept what may stand in code without being executed: alignment and the s_nop that end a program."""
        parts = [part.strip() for part in arguments.split(",")]
        if word in (".p2align", ".align", ".balign") or (word == ".fill" and parts[1:] in _IDLE):
            return
        raise UnreadableListing("this directive cannot stand in code", f"{word} {arguments}"[:80])

    def _section(self, word: str, arguments: str) -> None:
        name, flags = (word, _DATA_PREFIXES.get(word, "ax")) if word != ".section" else ("", "")
        if not name:
            match = _SECTION.match(arguments)
            if match is None:
                raise UnreadableListing("this section is not understood", arguments[:80])
            name = match[1].strip('"')
            prefix = next((p for p in (*_DATA_PREFIXES, ".text") if name == p or name.startswith(p + ".")), "")
            flags = match[2] if match[2] is not None else _DATA_PREFIXES.get(prefix, "ax" if prefix else "")
        self.is_code, self.data = "x" in flags, None
        if "a" in flags and not self.is_code:
            self.data = self.read.sections.setdefault(name, DataSection(name, "w" in flags))

    def _set(self, name: str, value: str) -> None:
        if not value:
            raise UnreadableListing("this assignment has no value", name[:80])
        self.read.assignments[name] = value

    def _open_kernel(self, name: str) -> None:
        if name in self.read.kernels or self.kernel is not None:
            raise UnreadableListing("this kernel has two descriptors", name[:80])
        self.kernel = name
        self.read.kernels[name] = {}

    def _metadata(self, line: str) -> None:
        assert self.block is not None
        if line.strip() == ".end_amdgpu_metadata":
            self.read.metadata, self.block = "\n".join(self.block), None
        else:
            self.block.append(line)

    def _common(self, parts: list[str], row: int) -> None:
        """Lay out a variable without a value: name, bytes, alignment."""
        previous = self.is_code, self.data
        self._section(".bss", "")
        if len(parts) > 2:
            self._datum(".balign", parts[2], row)
        self._label(parts[0].strip('"'))
        self._datum(".zero", parts[1] if len(parts) > 1 else "", row)
        self.is_code, self.data = previous


def _plain(text: str) -> str:
    """Strip the comment behind a line."""
    return text.partition(";")[0].strip()


def _before_comment(line: str) -> tuple[str, bool]:
    """Cut what the assembler takes for comments out of a line, and tell whether one of them goes on behind it."""
    parts, end = [], 0
    while match := _COMMENT.search(line, end):
        mark = match[0]
        parts.append(line[end : match.start()])
        if mark[0] == '"':
            parts.append(mark)
            end = match.end()
        elif mark == "/*":
            close = line.find("*/", match.end())
            if close < 0:
                return "".join(parts), True
            parts.append(" ")
            end = close + 2
        else:  # // or ;
            return "".join(parts) + (line[match.start() :] if mark == ";" else ""), False
    return "".join(parts) + line[end:], False
