"""A file with its own headers in the place of their includes, since a candidate is one file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from sandbox.candidate.header_names import is_header

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">][^\n]*', re.M)


def with_headers(path: Path, text: str, read: Callable[[Path], str]) -> tuple[str, list[str]]:
    """Give the text, and the headers that are neither beside it nor the compiler's, whose includes are empty lines.

    Only files of its folder and those below it are read.
    """
    root, visited, missing = path.resolve().parent, {path.resolve()}, list[str]()

    def included(text: str, folder: Path) -> str:
        def header(match: re.Match[str]) -> str:
            target = (folder / match[1]).resolve()
            if target in visited:
                return ""
            if target.is_relative_to(root) and target.is_file():
                visited.add(target)
                return included(read(target), target.parent)
            if is_header(match[1]):
                return match[0]
            missing.append(match[1])
            return ""

        return _INCLUDED.sub(header, text)

    return included(text, root), missing
