"""What a program shows at a terminal: run at a pseudo-terminal of some width, its screen kept line by line."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

CONTROL = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b\][^\x07]*\x07|[\r\n]|[^\x1b\r\n]")
Cell = tuple[str, str]  # a letter and the colours that it has, as the terminal was told


class Screen:
    """The lines of a terminal that scrolls without end, with what programs that redraw their last lines ask for."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[Cell]] = [[]]
        self._row = self._column = 0
        self._colours = ""

    def take(self, text: str) -> None:
        """Show what was written."""
        for match in CONTROL.finditer(text):
            if match[0] == "\n":
                self._down()
            elif match[0] == "\r":
                self._column = 0
            elif match[2]:
                self._control(match[1], match[2])
            elif not match[0].startswith("\x1b"):
                self._letter(match[0])

    @property
    def lines(self) -> list[str]:
        """The lines, with their colours as escape sequences."""
        return ["".join(f"{colours}{letter}\x1b[0m" for letter, colours in row).rstrip() for row in self.rows]

    def _down(self) -> None:
        self._row, self._column = self._row + 1, 0
        if self._row == len(self.rows):
            self.rows.append([])

    def _letter(self, letter: str) -> None:
        if self._column == self.columns:
            self._down()
        row = self.rows[self._row]
        row.extend([(" ", "")] * (self._column + 1 - len(row)))
        row[self._column] = letter, self._colours
        self._column += 1

    def _control(self, numbers: str, kind: str) -> None:
        if kind == "m":
            self._colours = "" if numbers in ("", "0") else f"{self._colours}\x1b[{numbers}m"
        elif kind == "A":
            self._row = max(0, self._row - int(numbers or 1))
        elif kind == "K":
            del self.rows[self._row][0 if numbers == "2" else self._column :]


def shown(argv: Sequence[str], columns: int, folder: Path, environment: Mapping[str, str]) -> Screen:
    """Run a program at a terminal of this width; RuntimeError where it fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    given = {**os.environ, **environment, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    process = subprocess.Popen(argv, cwd=folder, env=given, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    screen, decoder = Screen(columns), codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        try:
            data = os.read(ours, 1 << 16)
        except OSError:  # its end, on Linux
            break
        if not data:
            break
        screen.take(decoder.decode(data))
    os.close(ours)
    if process.wait() != 0:
        raise RuntimeError("\n".join(screen.lines))
    return screen
