"""The branches of conditional directives, as far as a text's brackets need them.

Each branch of `#if ... #else ... #endif` is read where it closes what it opens, and where all of them close the same
namespaces, as those do of which one holds the rest of the file. Of others, such as those of a function with two heads
and one body, the first branch is read, so that the brackets of the whole text fit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sandbox.candidate.pp_tokens import Token, is_directive

_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())
_NEXT = frozenset({"else", "elif", "elifdef", "elifndef"})
_NAMESPACE = "namespace"  # stands for the bracket that closes one
Branch = list[list[Token]]


class ReadRows(NamedTuple):
    """The rows without conditional directives, and the rows of branches that were not read."""

    read: Branch
    unread: Branch


@dataclass
class _Brackets:
    """The brackets that are open at a place of the text."""

    expected: list[str] = field(default_factory=list)  # what closes them, the innermost last
    fewest: int = 0  # since the branch began
    is_broken: bool = False
    head: list[str] = field(default_factory=list)  # the words since the last statement

    def branched(self) -> _Brackets:
        """Copy the state for another branch that begins at the same place."""
        return _Brackets([*self.expected], len(self.expected), False, [*self.head])

    def take(self, row: list[Token]) -> None:
        """Go on behind a row."""
        for token in row:
            if token.kind == "mark" and token.text in _OPEN:
                is_namespace = token.text == "{" and _is_namespace(self.head)
                self.expected.append(_NAMESPACE if is_namespace else _OPEN[token.text])
            elif token.kind == "mark" and token.text in _CLOSE:
                closed = self.expected.pop() if self.expected else ""
                self.is_broken |= closed not in (token.text, _NAMESPACE if token.text == "}" else closed)
                self.fewest = min(self.fewest, len(self.expected))
            is_end = token.kind == "mark" and token.text in "{};"
            self.head = [] if is_end else [*self.head, token.text][:9]


@dataclass
class _Group:
    """A condition whose end has not come: its branches, and the brackets before and behind each."""

    start: _Brackets
    branches: list[Branch] = field(default_factory=lambda: [[]])
    ends: list[_Brackets] = field(default_factory=list)


def balanced_rows(rows: Iterable[list[Token]]) -> ReadRows:
    """Leave out conditional directives, and branches that would count a bracket twice."""
    now, unread = _Brackets(), Branch()
    groups = [_Group(now)]  # those that are not closed yet; the first is the text
    now = now.branched()
    for row in rows:
        word = row[1].text if is_directive(row) and len(row) > 1 else ""
        if word in ("if", "ifdef", "ifndef"):
            groups.append(_Group(now))
            now = now.branched()
        elif word in _NEXT and len(groups) > 1:
            groups[-1].ends.append(now)
            groups[-1].branches.append([])
            now = groups[-1].start.branched()
        elif word == "endif" and len(groups) > 1:
            group = groups.pop()
            group.ends.append(now)
            group_rows = _read(group)
            groups[-1].branches[-1] += group_rows.read
            unread += group_rows.unread
            fewest = min(group.start.fewest, group.ends[0].fewest)
            now = group.ends[0].branched()
            now.fewest = min(fewest, now.fewest)
        else:
            groups[-1].branches[-1].append(row)
            if not is_directive(row):
                now.take(row)
    return ReadRows([row for group in groups for branch in group.branches for row in branch], unread)


def _read(group: _Group) -> ReadRows:
    start, ends, first = group.start.expected, group.ends, group.ends[0]
    more = len(start) - len(first.expected)
    is_alike = all(
        not end.is_broken and end.expected == first.expected and end.fewest == len(end.expected) for end in ends
    )
    if is_alike and more >= 0 and all(closed == _NAMESPACE for closed in start[len(start) - more :]):
        opened = ([_opening(branch, more)] if more and branch else [] for branch in group.branches)
        rows = [[*opening, *branch] for opening, branch in zip(opened, group.branches, strict=True)]
        return ReadRows([*group.branches[0], *(row for branch in rows[1:] for row in branch)], [])
    return ReadRows(group.branches[0], [row for branch in group.branches[1:] for row in branch])


def _opening(branch: Branch, count: int) -> list[Token]:
    """Open the namespaces that the branch closes, where it begins: the branch before has closed them as well."""
    first = branch[0][0]
    marks = [
        first._replace(kind="name", text=_NAMESPACE, end=first.start),
        first._replace(kind="mark", text="{", end=first.start),
    ]
    return marks * count


def _is_namespace(head: list[str]) -> bool:
    is_c = len(head) == 2 and head[0] == "extern" and head[1].startswith('"')
    return is_c or head[:1] == [_NAMESPACE] or head[:2] == ["inline", _NAMESPACE]
