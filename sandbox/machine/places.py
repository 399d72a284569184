"""Source lines of a listing: the `.loc` directives with the inline chain that LLVM prints behind them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sandbox.machine.unreadable import UnreadableListing

Place = tuple[str, int]  # file and line; line 0 where the compiler names none
_LOC = re.compile(r"\.loc\s+(\d{1,9})\s+(\d{1,9})")
_FILE = re.compile(r'\.file\s+(\d{1,9})\s+(?:"([^"]*)"\s+)?"([^"]*)"')
_ENTRY = re.compile(r"(.*):(\d{1,9}):\d{1,9}$")
MAX_CHAIN = 64


@dataclass
class PlaceReader:
    """The file table of a listing, and the chains of its `.loc` lines."""

    files: dict[int, str] = field(default_factory=dict)
    chains: dict[str, tuple[Place, ...]] = field(default_factory=dict)

    def add_file(self, line: str) -> None:
        """Read a `.file` directive; the form that only names the module is left."""
        if match := _FILE.match(line):
            self.files[int(match[1])] = match[3]

    def chain(self, line: str) -> tuple[Place, ...]:
        """List files and lines of a `.loc` directive, the innermost first."""
        chain = self.chains.get(line)
        if chain is None:
            chain = self.chains[line] = self._read(line)
        return chain

    def _read(self, line: str) -> tuple[Place, ...]:
        match = _LOC.match(line)
        if match is None:
            raise UnreadableListing("this line number is not understood", line[:80])
        number = int(match[1])
        first = (self.files.get(number, ""), int(match[2]))
        parts = line.partition(";")[2].strip().split(" @[ ")[1 : MAX_CHAIN + 1]
        outer = [entry for part in parts if (entry := _ENTRY.match(part.rstrip(" ]")))]
        return (first, *((_base(entry[1]), int(entry[2])) for entry in outer))


def _base(path: str) -> str:
    """Name a file as it stands in the file table, where the chain gives it with the compilation's folder."""
    return path.removeprefix("./")
