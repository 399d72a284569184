"""The labels and instructions of a gfx942 listing, with the candidate's line of each."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FUNCTION = re.compile(r"^\t\.type\t(\S+),@function$")
_FILE = re.compile(r'^\t\.file\t(\d+) (?:"[^"]*" )?"([^"]*)"')
_LOC = re.compile(r"^\t\.loc\t(\d+) (\d+)")
_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_INSTRUCTION = re.compile(r"^\t([a-z][a-z0-9_]+)(.*)")
ListingRow = tuple[str, int, str, str, str]  # function, candidate's line or 0, label or mnemonic and operands


def walk(listing: str, source_name: str) -> Iterator[ListingRow]:
    """Yield every label and instruction of a listing."""
    function, line, mine = "", 0, set[str]()
    for text in listing.split("\n"):
        if text.startswith("\t."):
            if match := _LOC.match(text):
                line = int(match[2]) if match[1] in mine else line
            elif match := _FUNCTION.match(text):
                function, line = match[1], 0
            elif match := _FILE.match(text):
                mine |= {match[1]} if match[2] == source_name else set()
            elif text.startswith("\t.section"):
                function = ""
        elif function and (match := _INSTRUCTION.match(text)):
            yield function, line, "", match[1], match[2]
        elif function and (match := _LABEL.match(text)):
            yield function, line, match[1], "", ""
