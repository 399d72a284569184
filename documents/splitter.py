"""A document's body, as Markdown, to passages of about 800 to 1500 characters that keep their heading path."""

from __future__ import annotations

import re
from collections.abc import Iterator

SPLITTER = 3  # part of every derived index: raise it when passages change
LOW, HIGH = 800, 1500  # characters: a new section starts a new passage above LOW; none is longer than HIGH
HEADING = 200  # characters that are kept of one: each passage below repeats it
ORIGIN = "Provenance"  # a section that says what the others rest on and answers no question itself

_ATX = re.compile(r"(#{1,6})\s+(?=\S)")
_UNDERLINE = re.compile(r"([=\-~^\"'`+*])\1{2,}")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_TICKS, _RULES = ("`", "~"), tuple("=-~^\"'`+*")
_Path = tuple[str, ...]  # headings, the outermost first


def passages(body: str) -> list[tuple[str, str]]:
    """Heading paths and texts in their order; a fence or a table is broken only where it alone is over the limit."""
    bare = [("", body.strip()[:HIGH])] if body.strip() else []  # headings and nothing under them
    return list(_packed(_blocks(body))) or bare


def _packed(blocks: Iterator[tuple[_Path, str]]) -> Iterator[tuple[str, str]]:
    """Blocks in passages, each with the heading path of its first block."""
    parts, first, last, size = list[str](), _Path(), _Path(), 0
    for path, block in blocks:
        moved = path != last
        text = f"{path[-1]}\n{block}" if parts and moved and path else block
        if parts and (size + len(text) + 2 > HIGH or (moved and (size >= LOW or ORIGIN in (*path, *last)))):
            yield " > ".join(first), "\n\n".join(parts)
            parts, size, text = [], 0, block
        first, last = first if parts else path, path
        parts.append(text)
        size += len(text) + 2
    if parts:
        yield " > ".join(first), "\n\n".join(parts)


def _blocks(body: str) -> Iterator[tuple[_Path, str]]:
    """Paragraphs, lists, tables and fences, each under its heading path."""
    path, lines = list[tuple[int, str]](), list[str]()
    names, fence = _Path(), ""

    def flush() -> Iterator[tuple[_Path, str]]:
        text = "\n".join(lines).strip("\n")
        lines.clear()
        if text.strip():
            yield from ((names, piece) for piece in _pieces(text))

    for line in body.split("\n"):
        first = line.lstrip()[:1]
        mark = _FENCE.match(line) if first in _TICKS else None
        if fence:
            lines.append(line)
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                yield from flush()
                fence = ""
        elif mark:
            yield from flush()
            fence = mark[1]
            lines.append(line)
        elif first == "#" and (heading := _ATX.match(line)):
            yield from flush()
            names = _enter(path, len(heading[1]), line[heading.end() :].rstrip().rstrip("#"))
        elif len(lines) == 1 and first in _RULES and _is_under(line.strip(), lines[0]):
            names = _enter(path, 1 if first == "=" else 2, lines.pop().strip())
        elif first:
            lines.append(line.rstrip())
        elif lines:
            yield from flush()
    yield from flush()


def _is_under(rule: str, title: str) -> bool:
    return bool(_UNDERLINE.fullmatch(rule)) and len(rule) >= len(title.strip()) - 2


def _enter(path: list[tuple[int, str]], level: int, title: str) -> _Path:
    while path and path[-1][0] >= level:
        path.pop()
    path.append((level, " ".join(title.split())[:HEADING]))
    return tuple(name for _, name in path)


def _pieces(text: str) -> Iterator[str]:
    """Cut a block into parts of at most HIGH characters: at line ends, else at spaces, else anywhere."""
    start, end = 0, len(text)
    while end - start > HIGH:
        low, high = start + LOW, start + HIGH
        position = max(text.rfind("\n", low, high), 0) or max(text.rfind(" ", low, high), 0) or high
        yield text[start:position].rstrip()
        start = position
        while position != high and start < end and text[start] in "\n ":
            start += 1
    if text[start:].strip():
        yield text[start:]
