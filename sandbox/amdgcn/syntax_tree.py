"""The syntax tree of a candidate as clang prints it (`-ast-dump`): one node a line, with its place in the file.

The compiler itself says here what a text means: which function a call is, which branch a condition that is known takes,
what an attribute is called, whatever its spelling. What belongs to a header is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sandbox.candidate.diagnostics import SOURCE

DUMP = ("-fsyntax-only", "-Xclang", "-ast-dump", "-Xclang", "-fdump-record-layouts-simple")
_PLACE = r"(?:<invalid sloc>|(?:<[a-z -]+>|[^\s<>,':]+):(?P<line{0}>\d+)(?::\d+)?(?: <[^<>]*>)?)"  # a name, line or col
_NODE = re.compile(
    r"(?P<edges>[|` -]*)(?P<kind>\w+)(?P<own> 0x[0-9a-f]+)?(?: (?:prev|parent) 0x[0-9a-f]+)*"
    rf"(?: <(?P<first>{_PLACE.format(1)})(?:, (?P<last>{_PLACE.format(2)}))?>)?(?: (?P<point>{_PLACE.format(3)}))?"
    r"(?P<rest>.*)"
)
_LAST, _POINT = 2, 4  # groups of a place, each followed by its line's number
_LAYOUT = re.compile(r"^Type: (.*)\nLayout: <ASTRecordLayout\n((?:.*\n)*?) *FieldOffsets: (.*)>$", re.M)


class Node(NamedTuple):  # there are thousands in each tree
    """One declaration, statement, expression, type or attribute."""

    depth: int
    kind: str
    text: str  # without places; declarations by their addresses
    address: str
    line: int  # of the candidate's file, where it begins or the nearest before
    file: str  # a header's for what a macro of it writes whole


@dataclass(frozen=True)
class SyntaxTree:
    """The candidate's own part of a translation unit, and the layouts of the structures in it."""

    nodes: tuple[Node, ...]
    layouts: frozenset[tuple[str, str]]  # name of the type, its size, alignment and the places of its members


def read_tree(dump: str) -> SyntaxTree:
    """Everything that stands in the candidate's file."""
    nodes = tuple(_candidates_own(dump))
    layouts = {(m[1], " ".join(f"{m[2]} {m[3]}".split())) for m in _LAYOUT.finditer(dump)}
    return SyntaxTree(nodes, frozenset(layouts))


def subtree(nodes: tuple[Node, ...], index: int) -> int:
    """The end of the node's own part of the list."""
    end = index + 1
    while end < len(nodes) and nodes[end].depth > nodes[index].depth:
        end += 1
    return end


def _candidates_own(dump: str) -> Iterator[Node]:
    """All nodes without declarations of headers and without comments."""
    file, line, shown = "", 0, 1
    skipped: int | None = None  # the depth of a node whose subtree is left out
    for row in dump.split("\n"):
        match = _NODE.match(row)
        if not match or row.startswith(("Type: ", "Layout: ", "TranslationUnitDecl")):
            continue
        edges, kind, own, *places, rest = match.groups()
        is_own, first = False, ""
        for group in (0, 2, 4):
            place = places[group]
            if not place or place == "<invalid sloc>":
                continue
            name = place.partition(":")[0] if place[0] != "<" else place[: place.index(">") + 1]
            if name == "line":
                line = int(places[group + 1])
            elif name != "col":
                file, line = name, int(places[group + 1])
            is_own = is_own or file == SOURCE
            if group != _POINT and first != SOURCE:
                first = file
            if file == SOURCE and group != _LAST:
                shown = line
        depth = len(edges) // 2
        if skipped is not None and depth > skipped:
            continue
        skipped = None
        is_other = depth == 1 and (not is_own or rest.startswith(" implicit"))
        if is_other or kind.endswith("Comment"):
            skipped = depth
            continue
        yield Node(depth, kind, rest.strip(), own.strip() if own else "", shown, first)
